package results

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// hashedPrefix begins what stands for a serial or WWN.
const hashedPrefix = "sha256:"

// HashIdentity is what stands for a serial or WWN where results may be shown to others: it tells whether two results are
// of one disk, and not of which. "" stays "", and what is hashed stays as it is.
func HashIdentity(s string) string {
	if s == "" || strings.HasPrefix(s, hashedPrefix) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return hashedPrefix + hex.EncodeToString(sum[:8])
}

// Hashed is the passport without what identifies the very device: serial and wwn are replaced by hashes of them, and the
// backing file is left out.
func (p Passport) Hashed() Passport {
	p.Serial, p.WWN, p.Backing = HashIdentity(p.Serial), HashIdentity(p.WWN), nil
	return p
}

func (p Passport) hashed() bool { return strings.HasPrefix(p.Serial, hashedPrefix) }

// Hide replaces the disk's serial and WWN in a text (a command line, a study, a JSON document) by their hashes. Only whole
// words are replaced; a serial of digits alone only where it is a string or a key's value, since sizes look the same.
func (p Passport) Hide(text string) string {
	for _, secret := range []string{p.Serial, p.WWN} {
		if secret == "" || strings.HasPrefix(secret, hashedPrefix) {
			continue
		}
		text = wordOf(secret).ReplaceAllString(text, "${1}"+HashIdentity(secret))
	}
	return text
}

var digits = regexp.MustCompile(`^[0-9]+$`)

// wordOf matches a serial or WWN as a word. Kernels and people write WWNs in either case.
func wordOf(secret string) *regexp.Regexp {
	before, after := `()`, ``
	if digits.MatchString(secret) {
		before = `(["'=]|claim:\s*)`
	} else if isWord(secret[0]) {
		before = `()\b`
	}
	if isWord(secret[len(secret)-1]) {
		after = `\b`
	}
	return regexp.MustCompile(`(?i)` + before + regexp.QuoteMeta(secret) + after)
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
