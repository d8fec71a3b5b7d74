package planner

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"platter/guest"
	"platter/guest/server"
	"platter/guest/storage"
	"platter/guest/workload"
	"platter/images"
	"platter/lab"
	"platter/results"
	"platter/results/published"
)

// The catalogue's names of the images a storage boots from.
const (
	rootImage = "root"
	zfsImage  = "zfs"
)

// Registry answers lab's questions from the registries of the packages that do the work.
type Registry struct{}

var _ lab.Registry = Registry{}

// Storage returns every fault of a storage on its disks.
func (Registry) Storage(s guest.Storage, disks []guest.Disk) []error {
	if _, err := storage.FilesystemByName(s.Filesystem); err != nil {
		return []error{unknown("filesystem", s.Filesystem, filesystemNames())}
	}
	errs := storage.Check(s, disks)
	for _, addon := range addons(s) {
		if _, err := images.Lookup(addon); err != nil {
			errs = append(errs, fmt.Errorf("filesystem %s needs the add-on image %s: %w", s.Filesystem, addon, err))
		}
	}
	return errs
}

// Commands returns the command lines that make and mount a storage.
func (Registry) Commands(s guest.Storage, disks []guest.Disk) [][]string {
	return storage.Commands(s, disks, nil)
}

// Images returns the root image and the add-on images of a storage.
func (Registry) Images(s guest.Storage) (root string, stacked []string) { return rootImage, addons(s) }

func addons(s guest.Storage) []string {
	if s.Filesystem == zfsImage {
		return []string{zfsImage}
	}
	return nil
}

// Cautions returns what a database must not expect of the filesystem.
func (Registry) Cautions(s guest.Storage) []string {
	fs, err := storage.FilesystemByName(s.Filesystem)
	if err != nil {
		return nil
	}
	return fs.CannotDo
}

// Server returns an error when the catalogue has no such server image.
func (Registry) Server(image string) error {
	recipe, err := images.Lookup(image)
	if err != nil {
		return unknown("server image", image, serverNames())
	}
	if recipe.Kind != images.KindServer {
		return fmt.Errorf("image %s is a %s image and holds no server; there are %s", image, recipe.Kind, strings.Join(serverNames(), ", "))
	}
	return nil
}

// Config returns every fault of a configuration that shows without the server itself. Whether the server knows an option
// is asked of its image once that is there, or else in the guest before it makes a data directory.
func (Registry) Config(s guest.Server, memoryBytes int64) []error {
	if _, err := server.ProfileOptions(s.Profile, memoryBytes); err != nil {
		return []error{unknown("profile", s.Profile, profileNames())}
	}
	return server.CheckOptions(s.Profile, s.Options, memoryBytes)
}

// Verbs returns the steps a workload stands for when a study names only the workload.
func (Registry) Verbs(name string) ([]string, error) {
	for _, k := range workload.Kinds() {
		if k.Name == name {
			return k.Steps, nil
		}
	}
	return nil, unknown("workload", name, workload.Names())
}

// EngineOption returns the option by which a workload is told its storage engine.
func (Registry) EngineOption(name string) string { return workload.EngineOption(name) }

// Step returns every fault of a step where it is to run.
func (Registry) Step(step guest.Step, at lab.Site) []error {
	w, err := workload.Decode(step.Workload, step.Options)
	if err != nil {
		if !slices.Contains(workload.Names(), step.Workload) {
			err = unknown("workload", step.Workload, workload.Names())
		}
		return split("workload "+step.Workload, err)
	}
	place := workload.Place{Flavour: flavour(at.Server.Image), Filesystem: at.Storage.Filesystem,
		MaxConnections: asked(at.Server.Options, "max_connections"), MaxPrepared: asked(at.Server.Options, "max_prepared_stmt_count")}
	if fs, err := storage.FilesystemByName(at.Storage.Filesystem); err == nil {
		place.MaxFileBytes = fs.MaxFile
	}
	if a, errs := storage.Assemble(at.Storage.Layout, at.Disks, func(disk string) string { return disk }); len(errs) == 0 {
		place.DiskBytes = a.Target.SizeBytes
	}
	return append(w.Check(place), checkCrash(step, w, at.Storage)...)
}

// checkCrash says what a crash check needs of the storage below it.
func checkCrash(step guest.Step, w workload.Workload, s guest.Storage) []error {
	if step.Do != "crash" && step.Do != "verify" {
		return nil
	}
	c, ok := w.(workload.Crasher)
	if !ok {
		return []error{fmt.Errorf("workload %s has no step %s: it does not know what was acknowledged; crash_check does", step.Workload, step.Do)}
	}
	kind, _ := c.How()
	switch {
	case s.Filesystem == "": // it has faults of its own
	case !storage.Reassembles(s.Layout):
		return []error{fmt.Errorf("after a crash layout %s would be made anew; use disk or log_writes", s.Layout.Kind)}
	case kind == workload.PowerCut && s.Layout.Kind != "log_writes":
		return []error{errors.New("crash power_cut needs the layout log_writes over two disks, the second for the log")}
	}
	return nil
}

// asked is a limit as the study sets it, 0 where it does not: then it is computed from the workload.
func asked(options map[string]string, name string) int {
	for option, text := range options {
		if strings.ReplaceAll(option, "-", "_") == name {
			n, _ := strconv.Atoi(text) // what is no number is refused with the server's options
			return n
		}
	}
	return 0
}

// Metric returns an error when no result can hold a metric of this name.
func (Registry) Metric(name string) error {
	if _, ok := results.LookupMetric(name); ok {
		return nil
	}
	names := make([]string, 0, len(results.Metrics()))
	for _, m := range results.Metrics() {
		names = append(names, m.Name)
	}
	return unknown("metric", name, names)
}

// Score returns an error when the write-up that a study replays printed no score of this name.
func (Registry) Score(study, name string) error {
	replayed, ok := published.Lookup(study)
	if !ok {
		return fmt.Errorf("study %s replays no published study, so it has no scores; name a metric", study)
	}
	var names []string
	for _, s := range replayed.Scores {
		names = append(names, s.ID)
	}
	if slices.Contains(names, name) {
		return nil
	}
	return unknown("score", name, names)
}

// flavour is the product an image of the catalogue is named after: mariadb-11.8 holds mariadb. It only serves to refuse
// early; what runs in the guest is asked of the server itself.
func flavour(image string) string {
	product, _, _ := strings.Cut(image, "-")
	switch product {
	case "mysql", "mariadb", "percona":
		return product
	}
	return ""
}

func filesystemNames() (names []string) {
	for _, f := range storage.Filesystems() {
		names = append(names, f.Name)
	}
	return names
}

func serverNames() (names []string) {
	for _, r := range images.Catalogue() {
		if r.Kind == images.KindServer {
			names = append(names, r.Name)
		}
	}
	return names
}

func profileNames() (names []string) {
	for _, p := range server.Profiles {
		names = append(names, p.Name)
	}
	return names
}

// unknown says that there is no such thing and lists what there is, the nearest first.
func unknown(what, word string, have []string) error {
	text := fmt.Sprintf("unknown %s %q", what, word)
	if near := lab.Nearest(word, have); near != "" {
		text += fmt.Sprintf(", did you mean %q?", near)
	}
	if len(have) <= 20 {
		text += fmt.Sprintf(" (there are %s)", strings.Join(have, ", "))
	}
	return fmt.Errorf("%s", text)
}

// split takes joined errors apart, so that each becomes a fault of its own, named for what it is about.
func split(what string, err error) []error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, fmt.Errorf("%s: %w", what, e))
	}
	return out
}
