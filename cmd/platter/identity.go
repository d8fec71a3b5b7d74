package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"platter/lab"
	"platter/results"
)

// identities are the passports of the real disks of a study, which its plan holds hashed.
type identities []results.Passport

// bindClaims gives the study's claimed disks their passports.
func bindClaims(c *cli.Context, s lab.Study) (lab.Study, identities, error) {
	if !slices.ContainsFunc(s.Disks, func(d lab.Disk) bool { return d.Claim != "" }) {
		return s, nil, nil
	}
	claims, err := loadClaims(c)
	if err != nil {
		return s, nil, err
	}
	var known identities
	return s.Claimed(func(word string) (results.Passport, error) {
		claim, err := claims.Find(word, time.Now())
		if err == nil {
			known = append(known, claim.Passport)
		}
		return claim.Passport, err
	}), known, nil
}

// of is the passport of a plan's disk as people know the disk.
func (known identities) of(d lab.Disk) results.Passport {
	for _, p := range known {
		if p.Hashed().Serial == d.Passport.Serial {
			return p
		}
	}
	return *d.Passport
}

// hide replaces serials and WWNs in what a run folder keeps of a command line or a study, unless the flags want them shown.
func (known identities) hide(c *cli.Context, text string) string {
	if c.Bool("full-inventory") {
		return text
	}
	for _, p := range known {
		text = p.Hide(text)
	}
	return text
}

// printDestroyed lists the real disks that a plan destroys.
func (known identities) printDestroyed(w io.Writer, p lab.Plan) {
	destroyed := p.Destroys()
	if len(destroyed) == 0 {
		return
	}
	fmt.Fprintf(w, "\nDESTROYS everything on %s\n", count(len(destroyed), "real disk"))
	for _, d := range destroyed {
		fmt.Fprintf(w, "  %s, passed through as %s: %s\n", d.Name, d.Attach, printable(known.of(d).String()))
	}
}
