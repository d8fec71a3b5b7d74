package lab

// nameShape is what names of studies, disks and levels look like: they become parts of file names and serials.
const nameShape = `^[a-z0-9][a-z0-9._+-]{0,39}$`

const diskShape = `^[a-z0-9][a-z0-9-]{0,31}$`

var (
	diskName = text("a disk's name of lower-case letters, digits and - (at most 32)", diskShape)
	name     = text("a name of lower-case letters, digits and . _ + - (at most 40)", nameShape)
	sentence = text("a sentence", `\S`)
)

// Words the language knows.
var (
	accels         = []string{"auto", "kvm", "tcg"}
	buses          = []string{"virtio", "scsi", "sata", "nvme"}
	caches         = []string{"auto", "none", "directsync", "writeback", "writethrough", "unsafe"}
	ios            = []string{"auto", "native", "threads", "io_uring"}
	formats        = []string{"raw", "qcow2"}
	preallocations = []string{"full", "off"}
	probes         = []string{"noise", "flush"}
	preconditions  = []string{"none", "fill", "steady"}
	scores         = []string{"write", "transaction", "overall"}
)

// language is the study language, whole. Each key has its one description here.
var language = object("study", func(*decoder, string, *node) Study {
	return Study{Rounds: 6, Machine: defaultMachine, Precondition: "none"}
},
	needed(key("study", "Name of the study; result folders carry it.", name, func(s *Study) *string { return &s.Name })),
	needed(key("question", "The question in one sentence; every report opens with it.", sentence, func(s *Study) *string { return &s.Question })),
	key("about", "Background for readers: source, era, what differs today.", sentence, func(s *Study) *string { return &s.About }),
	key("machine", "The virtual machine, the same for every trial.", machine, func(s *Study) *Machine { return &s.Machine }),
	needed(key("disks", "Data disks by name.", disks, func(s *Study) *[]Disk { return &s.Disks })),
	needed(key("factors", "What varies. Factors cross: every combination is a cell.", factors, func(s *Study) *FactorLevels { return &s.Factors })),
	key("steps", "The steps of every trial, for a study whose workload does not vary.", listOf(stepValue), func(s *Study) *[]step { return &s.Steps }),
	key("exclude", "Cells to leave out: factor to level or list of levels; all must match.", optionalListOf(pattern), func(s *Study) *[]Pattern { return &s.Exclude }),
	key("include", "Cells to keep although exclude names them.", optionalListOf(pattern), func(s *Study) *[]Pattern { return &s.Include }),
	key("rounds", "Passes over all cells, each in its own random order. Below 6 the 95 % interval of a median is infinite.",
		convert(whole(1, 1000), toInt), func(s *Study) *int { return &s.Rounds }),
	key("seed", "Seed of the order and of the workloads; derived from the study unless given.",
		convert(whole(0, maxSeed), func(v int64) *uint64 { u := uint64(v); return &u }), func(s *Study) **uint64 { return &s.Seed }),
	key("probes", "Measurements of the lab itself around each trial.", optionalListOf(oneOf("probe", probes...)), func(s *Study) *[]string { return &s.Probes }),
	key("precondition", "What to write to the disks before mkfs: fill is one full pass of incompressible data; steady repeats it, 12 times at most, until the rates of the last four differ by no more than 10 %.",
		oneOf("precondition", preconditions...), func(s *Study) *string { return &s.Precondition }),
	key("quiesce", "Longest wait for background work (discard, resync, dirty pages) before measuring.", duration, func(s *Study) *float64 { return &s.QuiesceSeconds }),
	key("sample", "Period of the samplers in the guest.", duration, func(s *Study) *float64 { return &s.SampleSeconds }),
	key("deadline", "Longest a trial's job may take.", duration, func(s *Study) *float64 { return &s.DeadlineSeconds }),
	key("trial_time", "Measured duration of one trial by accelerator (kvm, tcg), for the plan's estimate.",
		plainMap(mapOf(oneOf("accelerator", "kvm", "tcg"), duration)), func(s *Study) *map[string]float64 { return &s.TrialSeconds }),
	key("allow_unsafe", "Permit cache: unsafe, which loses data when the host fails and is printed in every title.", truth, func(s *Study) *bool { return &s.AllowUnsafe }),
	keyTo("scales", "Sizes of the study: each maps paths to values, as --set does. Chosen with study@scale.", scales,
		func(s *Study, list []named[struct{}]) {
			for _, e := range list {
				s.scales = append(s.scales, e.Name)
			}
		}),
	key("control", "A/A control: the cells that have these levels run twice in every round, under two names. What differs between the two is the lab's noise.",
		pattern, func(s *Study) *Pattern { return &s.Control }),
	key("claims", "Sentences that results can confirm or refute.", optionalListOf(claim), func(s *Study) *[]Claim { return &s.Claims }),
	key("successors", "What a replayed study had that no longer exists, and what runs in its place.", optionalListOf(successor), func(s *Study) *[]Successor { return &s.Successors }),
	key("era", "What else is different from the replayed study today, one sentence each.", optionalListOf(sentence), func(s *Study) *[]string { return &s.Era }),
)

// maxSeed keeps seeds exact in every JSON reader: 2^53-1.
const maxSeed = 1<<53 - 1

var defaultMachine = Machine{CPUs: 2, MemoryBytes: 2 << 30, Accel: "auto"}

var machine = object("machine", func(*decoder, string, *node) Machine { return defaultMachine },
	key("cpus", "Virtual CPUs.", convert(whole(1, 512), toInt), func(m *Machine) *int { return &m.CPUs }),
	key("memory", "Memory of the machine.", size, func(m *Machine) *int64 { return &m.MemoryBytes }),
	key("accel", "auto takes KVM where the host has it; tcg is software emulation. Results of the two are never mixed.",
		oneOf("accelerator", accels...), func(m *Machine) *string { return &m.Accel }),
)

// scales are read as paths by applyScale; here only their shape counts.
var scales = mapOf(name, value[struct{}]{
	schema: schema{"type": "object", "propertyNames": schema{"type": "string"}},
	read: func(d *decoder, path string, n *node) (struct{}, bool) {
		if n.kind != isMapping && n.kind != isNull {
			d.fault(n, path, "want a mapping from paths to values, e.g. {rounds: 2, disks.data.size: 1GiB}; got %s", describe(n))
			return struct{}{}, false
		}
		return struct{}{}, true
	},
})

// pattern maps factors to one level or a list of levels.
var pattern = convert(plainMap(mapOf(oneOf("factor", FactorNames...), nameOrNames)), func(m map[string][]string) Pattern { return m })

var nameOrNames = value[[]string]{
	schema: schema{"oneOf": []schema{name.schema, listOf(name).schema}},
	read: func(d *decoder, path string, n *node) ([]string, bool) {
		if n.kind == isSequence {
			return listOf(name).read(d, path, n)
		}
		one, ok := name.read(d, path, n)
		return []string{one}, ok
	},
}

var successor = object("successor", nil,
	needed(key("was", "What it was; where it was a level, that level's name in the original.", sentence, func(s *Successor) *string { return &s.Was })),
	needed(key("now", "What runs instead; where it is a level, that level's name.", sentence, func(s *Successor) *string { return &s.Now })),
	needed(key("reason", "Why the original cannot run, and why this stands for it.", sentence, func(s *Successor) *string { return &s.Reason })),
)

var claim = object("claim", nil,
	needed(key("id", "Short name of the claim, unique in the study.", name, func(c *Claim) *string { return &c.ID })),
	needed(key("text", "The claim in one sentence.", sentence, func(c *Claim) *string { return &c.Text })),
	key("metric", "Metric it is about.", text("a metric name", `^[a-z][a-z0-9_]*$`), func(c *Claim) *string { return &c.Metric }),
	key("score", "Score of the replayed study it is about, instead of a metric.", oneOf("score", scores...), func(c *Claim) *string { return &c.Score }),
	key("step", "Step the metric belongs to, where several steps give it.", sentence, func(c *Claim) *string { return &c.Step }),
	needed(key("factor", "Factor whose levels are compared.", oneOf("factor", FactorNames...), func(c *Claim) *string { return &c.Factor })),
	key("where", "Levels of the other factors it holds for.", plainMap(mapOf(oneOf("factor", FactorNames...), name)), func(c *Claim) *map[string]string { return &c.Where }),
	needed(key("order", "Levels from best to worst.", listOf(name), func(c *Claim) *[]string { return &c.Order })),
	key("equal", "Claims no difference between the levels of order.", truth, func(c *Claim) *bool { return &c.Equal }),
	key("within", "Largest difference claimed between best and worst, as a ratio: 0.033 is 3.3 %.", convert(number, toPointer[float64]), func(c *Claim) **float64 { return &c.Within }),
	key("ratio", "Published ratio of the metric: first level of order over the second.", convert(number, toPointer[float64]), func(c *Claim) **float64 { return &c.Ratio }),
	key("source", "Where the claim was made.", sentence, func(c *Claim) *string { return &c.Source }),
)
