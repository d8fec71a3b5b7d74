package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// option is one asked option on its way into the option file.
type option struct {
	asked string // as the study wrote it
	from  string // where it was asked: options or profile
	name  string // the name this server has for it, with dashes
	value string
	said  string // the value as asked, before any translation
	bare  bool   // a flag without a value
	drop  string // why it is not given to the server, "" when it is
	note  string // what was changed on the way, "" when nothing
}

// ours are the options platter sets itself: the whole isolation of a trial hangs on them.
var ours = map[string]string{
	"datadir": "the data directory lies on the filesystem under test", "socket": "the socket never lies on the filesystem under test",
	"pid-file": "the pid file never lies on the filesystem under test", "user": "the server runs as the image's user mysql",
	"basedir": "the server image fixes it", "log-error": "platter watches the error log", "defaults-file": "platter writes the only option file",
	"skip-networking": "the server listens on its socket only", "port": "the server listens on its socket only",
	"bind-address": "the server listens on its socket only", "daemonize": "platter watches the process itself",
	"initialize": "platter initialises the data directory", "initialize-insecure": "platter initialises the data directory",
	"bootstrap": "platter initialises the data directory", "help": "it ends the server", "version": "it ends the server",
}

// resolveOptions turns asked options into options this server has, or says at once everything that is wrong with them.
// Asked options win over the profile's. The result is sorted by name.
func resolveOptions(c Catalogue, profile, asked map[string]string) ([]option, error) {
	byName := map[string]option{}
	var errs []error
	for _, source := range []struct {
		from    string
		options map[string]string
	}{{"profile", profile}, {"options", asked}} {
		seen := map[string]string{}
		for _, name := range sortedKeys(source.options) {
			o, err := resolveOption(c, source.from, name, source.options[name])
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if other, ok := seen[o.name]; ok {
				errs = append(errs, fmt.Errorf("option %q: it sets %s, and so does %q; leave one out", name, o.name, other))
				continue
			}
			seen[o.name] = name
			byName[o.name] = o
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	out := make([]option, 0, len(byName))
	for _, name := range sortedKeys(byName) {
		out = append(out, byName[name])
	}
	return out, nil
}

// CheckOptions says what is wrong with asked options without a server at hand: an unknown profile, options platter sets
// itself, names and values no option file can hold. It is pure; the host calls it while it plans. Whether the server knows
// an option is found out by Prepare.
func CheckOptions(profile string, asked map[string]string, memoryBytes int64) []error {
	var errs []error
	if _, err := ProfileOptions(profile, memoryBytes); err != nil {
		errs = append(errs, err)
	}
	for _, name := range sortedKeys(asked) {
		plain, _ := plainName(name)
		if err := refuseOption(name, plain, asked[name]); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// CheckKnown says which asked options a server does not know, from what it printed for --verbose --help. It is pure; the
// host calls it once it has a server's image. Options of plugins are in no such list, so nothing is said when plugins are
// asked for; Prepare then checks with the plugins loaded.
func CheckKnown(help, profile string, asked map[string]string, memoryBytes int64) error {
	for name := range asked {
		if plain, _ := plainName(name); strings.HasPrefix(plain, "plugin-") {
			return nil
		}
	}
	c, err := ParseCatalogue(help)
	if err != nil {
		return err
	}
	options, err := ProfileOptions(profile, memoryBytes)
	if err != nil {
		return err
	}
	_, err = resolveOptions(c, options, asked)
	return err
}

// plainName is an option's name with dashes and without loose-, which is reported apart.
func plainName(asked string) (name string, loose bool) {
	name = strings.ToLower(strings.ReplaceAll(strings.TrimLeft(asked, "-"), "_", "-"))
	return strings.CutPrefix(name, "loose-")
}

// refuseOption tells why an option cannot be asked for, whatever the server.
func refuseOption(asked, name, value string) error {
	if name == "" || strings.ContainsAny(name, " \t\r\n=[]#;") || strings.ContainsAny(value, "\r\n\x00") {
		return fmt.Errorf("option %q: names and values are one line, without blanks or = in the name", asked)
	}
	if why, ok := ours[name]; ok {
		return fmt.Errorf("option %q cannot be asked for: %s", asked, why)
	}
	if name == "tmpdir" && value != "data" {
		return fmt.Errorf("option %q: temporary files lie off the filesystem under test; the only other place is the word data (beside the data directory)", asked)
	}
	return nil
}

func resolveOption(c Catalogue, from, asked, value string) (option, error) {
	name, loose := plainName(asked)
	o := option{asked: asked, from: from, name: name, value: value, said: value, bare: value == ""}
	if err := refuseOption(asked, name, value); err != nil {
		return o, err
	}
	switch {
	case c.Knows(name):
	case satisfiedByAbsence(name, value):
		o.drop = "this server has no such thing, which is what was asked"
	case loose:
		o.drop = "this server does not know it (asked with loose-)"
	default:
		renamed, err := applyRename(c, o)
		if err != nil {
			return o, fmt.Errorf("option %q: %w", asked, err)
		}
		if renamed.name == "" {
			return o, unknownOption(c, asked, name)
		}
		o = renamed
	}
	if v := canonicalValue(o.name, o.value); v != o.value {
		o.note, o.value = strings.TrimPrefix(o.note+"; spelt "+v+" here", "; "), v
	}
	return o, nil
}

func unknownOption(c Catalogue, asked, name string) error {
	if nearest := c.Nearest(name); nearest != "" {
		return fmt.Errorf("option %q is unknown to this server; the nearest it knows is %q", asked, nearest)
	}
	return fmt.Errorf("option %q is unknown to this server (see its --verbose --help)", asked)
}

// applyRename returns an option without a name when no row of renames fits.
func applyRename(c Catalogue, o option) (option, error) {
	for _, r := range renames {
		if r.From != o.name || !c.Knows(r.To) {
			continue
		}
		if r.Value != nil {
			v, err := r.Value(c, o.value)
			if err != nil {
				return o, err
			}
			o.value = v
		}
		o.name, o.note = r.To, fmt.Sprintf("set as %s=%s: %s", r.To, o.value, r.Note)
		return o, nil
	}
	return option{}, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
