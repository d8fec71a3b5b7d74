package results

// HostFacts identifies where a trial ran.
type HostFacts struct {
	Kernel         string `json:"kernel"`
	Arch           string `json:"arch"`
	CPUModel       string `json:"cpu_model"`
	CPUs           int    `json:"cpus"`
	MemoryBytes    int64  `json:"memory_bytes"`
	LibvirtVersion string `json:"libvirt_version"`
	QEMUVersion    string `json:"qemu_version"`
	MachineType    string `json:"machine_type"`
	Mode           string `json:"mode"` // system or session
	PlatterVersion string `json:"platter_version"`
}

// GuestFacts identifies the machine as the guest itself saw it.
type GuestFacts struct {
	Kernel      string            `json:"kernel"`
	Arch        string            `json:"arch"`
	CPUModel    string            `json:"cpu_model"`
	CPUs        int               `json:"cpus"`
	MemoryBytes int64             `json:"memory_bytes"`
	Cmdline     string            `json:"cmdline"`
	Tools       map[string]string `json:"tools,omitempty"` // tool → version line
}

// ImageRef names the exact bytes of an image a trial used.
type ImageRef struct {
	Name           string `json:"name"`
	Digest         string `json:"digest"`
	ManifestDigest string `json:"manifest_digest"`
}

// DiskFacts is one data disk: what the host made and what the guest found.
type DiskFacts struct {
	Name               string `json:"name"`
	Serial             string `json:"serial"`
	Kind               string `json:"kind"` // file, block, lun, nvme, pci
	SizeBytes          int64  `json:"size_bytes"`
	Bus                string `json:"bus"`
	KernelName         string `json:"kernel_name,omitempty"` // as found in the guest, for the record only
	LogicalBlockBytes  *int64 `json:"logical_block_bytes"`
	PhysicalBlockBytes *int64 `json:"physical_block_bytes"`
	Rotational         *bool  `json:"rotational"`
	CacheAsked         string `json:"cache_asked"`
	CacheEffective     string `json:"cache_effective"`
	IOEffective        string `json:"io_effective"`
	Preallocation      string `json:"preallocation"`
	Emulated           string `json:"emulated,omitempty"` // preset that stands for a class of device
	Model              string `json:"model,omitempty"`
	// Passport is that of a real disk which the machine was given; nil for one that platter made.
	Passport *Passport `json:"passport,omitempty"`
}

// StorageFacts is what mkfs and mount really made, read back.
type StorageFacts struct {
	Filesystem   string            `json:"filesystem"`
	Layout       string            `json:"layout"` // one line, e.g. md5(4×disk, chunk 64KiB)
	Device       string            `json:"device"`
	Commands     [][]string        `json:"commands"` // as run
	MkfsSeconds  *float64          `json:"mkfs_seconds"`
	MountSeconds *float64          `json:"mount_seconds"`
	MountOptions string            `json:"mount_options"` // from mountinfo
	SizeBytes    *int64            `json:"size_bytes"`
	Facts        map[string]string `json:"facts"` // superblock, xfs_info, zfs get … in their own words
	Quiesced     *bool             `json:"quiesced"`
	DataOnDevice *bool             `json:"data_on_device"` // datadir proven to lie on the asked device and type
	CannotDo     []string          `json:"cannot_do,omitempty"`
}

// ServerFacts is the database server as it described itself.
type ServerFacts struct {
	Flavour        string            `json:"flavour"` // mysql, mariadb, percona
	Version        string            `json:"version"`
	VersionComment string            `json:"version_comment"`
	Variables      map[string]string `json:"variables,omitempty"` // SHOW GLOBAL VARIABLES
	Engines        map[string]string `json:"engines,omitempty"`   // name → support
	InitSeconds    *float64          `json:"init_seconds"`
	StartSeconds   *float64          `json:"start_seconds"`
	StopSeconds    *float64          `json:"stop_seconds"`
}
