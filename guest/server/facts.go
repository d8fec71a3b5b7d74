package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"platter/results"
)

// Facts asks the running server to describe itself: version, every global variable, every engine.
func (s *Server) Facts(ctx context.Context) (results.ServerFacts, error) {
	conn, err := s.Connect(ctx, "")
	if err != nil {
		return results.ServerFacts{}, fmt.Errorf("ask the server for its facts: %w", err)
	}
	defer conn.Close()
	f := results.ServerFacts{Flavour: s.product.Flavour, Variables: map[string]string{}, Engines: map[string]string{}}
	variables, err := query(conn, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return f, err
	}
	for _, row := range variables {
		f.Variables[row[0]] = row[1]
	}
	engines, err := query(conn, "SHOW ENGINES")
	if err != nil {
		return f, err
	}
	for _, row := range engines {
		f.Engines[row[0]] = row[1]
	}
	f.Version, f.VersionComment = f.Variables["version"], f.Variables["version_comment"]
	f.InitSeconds, f.StartSeconds, f.StopSeconds = s.Seconds()
	return f, nil
}

// Settings compares what was asked with what is in force. A difference is a flag asked_not_effective; an option that was
// renamed, respelt or not given to the server is a flag too.
func (s *Server) Settings(ctx context.Context) ([]results.Setting, []results.Flag, error) {
	facts, err := s.Facts(ctx)
	if err != nil {
		return nil, nil, err
	}
	settings, flags := compareSettings(s.options, s.needed, facts.Variables)
	return settings, slices.Concat(flags, s.flags, s.startFlags), nil
}

// subject is what Setting.Subject says of a server's options.
const subject = "server"

func compareSettings(asked []option, needed []setting, variables map[string]string) ([]results.Setting, []results.Flag) {
	var settings []results.Setting
	var flags []results.Flag
	for _, o := range asked {
		said, given := o.said, o.value
		if o.bare {
			said, given = "ON", "ON"
		}
		entry := results.Setting{Subject: subject, Name: o.asked, Asked: &said}
		if o.note != "" {
			flags = append(flags, results.Flag{Name: "option_changed", Detail: o.asked + ": " + o.note})
		}
		effective, ok := variables[strings.ReplaceAll(o.name, "-", "_")]
		switch {
		case o.drop != "":
			flags = append(flags, results.Flag{Name: "option_not_given", Detail: o.asked + ": " + o.drop})
		case !ok:
			effective, ok = switched(o.name, variables)
			fallthrough
		default:
			if ok {
				entry.Effective = &effective
			}
			if ok && !inForce(o.name, given, effective) {
				flags = append(flags, results.Flag{Name: "asked_not_effective", Detail: fmt.Sprintf("%s: asked %s, in force %s", o.asked, said, effective)})
			}
		}
		settings = append(settings, entry)
	}
	for _, n := range needed {
		if v, ok := variables[strings.ReplaceAll(n.name, "-", "_")]; ok {
			value := n.value
			settings = append(settings, results.Setting{Subject: subject, Name: n.name, Asked: &value, Effective: &v})
			if !sameValue(value, v) {
				flags = append(flags, results.Flag{Name: "asked_not_effective", Detail: fmt.Sprintf("%s: the workload needs %s, in force %s", n.name, value, v)})
			}
		}
	}
	return settings, flags
}

// inForce tells whether an asked value is the one in force. A few options and their variables do not speak the same words.
func inForce(option, asked, effective string) bool {
	switch option {
	case "tmpdir": // asked by the word data
		return true
	case "log-bin": // takes a file name, and its variable says ON
		return sameValue("ON", effective) || sameValue(asked, effective)
	case "optimizer-switch": // an asked switch leaves the others alone
		for item := range strings.SplitSeq(asked, ",") {
			if !strings.Contains(","+effective+",", ","+strings.TrimSpace(item)+",") {
				return false
			}
		}
		return true
	}
	return sameValue(asked, effective)
}

// switched finds the variable behind skip-x, disable-x and enable-x; the first two are in force when it is off.
func switched(option string, variables map[string]string) (string, bool) {
	for _, prefix := range switchPrefixes {
		rest, found := strings.CutPrefix(option, prefix)
		if !found {
			continue
		}
		v, ok := variables[strings.ReplaceAll(rest, "-", "_")]
		if !ok {
			continue
		}
		if prefix == "skip-" || prefix == "disable-" {
			if plainValue(v) == "0" {
				return "ON", true
			}
			return "OFF", true
		}
		return v, true
	}
	return "", false
}

// confinement says whether a security profile of this machine is loaded for the server: it may forbid the data directory.
func confinement(r *root, binary string) []results.Flag {
	text, err := os.ReadFile("/sys/kernel/security/apparmor/profiles")
	if err != nil {
		return nil // no AppArmor here
	}
	return profileFlags(string(text), binary, filepath.Base(binary), r.outside(binary))
}

// profileFlags finds a loaded profile by any of the server's names.
func profileFlags(loaded string, names ...string) []results.Flag {
	for line := range strings.Lines(loaded) {
		name, mode, _ := strings.Cut(strings.TrimSpace(line), " ")
		if slices.Contains(names, name) {
			return []results.Flag{{Name: "apparmor_profile", Detail: fmt.Sprintf("a profile is loaded for %s, mode %s; the server is started directly, so it applies by path", name, strings.Trim(mode, "()"))}}
		}
	}
	return nil
}
