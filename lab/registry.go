package lab

import "platter/guest"

// Registry is what planning asks of the packages that do the work: which filesystems, images, servers and workloads
// there are and what they refuse. Every method is pure. lab/planner implements it; lab only declares what it needs,
// so that a plan can be computed and tested without any of them.
type Registry interface {
	// Storage returns every fault of a storage on its disks.
	Storage(s guest.Storage, disks []guest.Disk) []error
	// Commands returns the command lines that make and mount it, with <name> for the device of a disk.
	Commands(s guest.Storage, disks []guest.Disk) [][]string
	// Images returns the root image a storage boots and the add-on images it needs, the topmost first.
	Images(s guest.Storage) (root string, addons []string)
	// Cautions returns what a database must not expect of the filesystem.
	Cautions(s guest.Storage) []string
	// Server returns an error when the catalogue has no such server image.
	Server(image string) error
	// Config returns every fault of a server's configuration on a machine with this much memory.
	Config(s guest.Server, memoryBytes int64) []error
	// Verbs returns the steps a workload stands for when a study names only the workload.
	Verbs(workload string) ([]string, error)
	// EngineOption returns the option by which a workload is told its storage engine, "" when it has none.
	EngineOption(workload string) string
	// Step returns every fault of a step where it is to run.
	Step(step guest.Step, at Site) []error
	// Metric returns an error when no result can hold a metric of this name.
	Metric(name string) error
	// Score returns an error when the study replays nothing that has a score of this name.
	Score(study, name string) error
}

// Site is where a step runs. Storage and Disks are empty when the storage has faults of its own.
type Site struct {
	Storage guest.Storage
	Disks   []guest.Disk
	Server  guest.Server
	Machine Machine
}
