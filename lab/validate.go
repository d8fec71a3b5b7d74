package lab

import (
	"fmt"
	"slices"
	"strings"

	"platter/guest"
)

// checker collects the faults of a study that parsed; it says each once, however many cells have it.
type checker struct {
	study  Study
	reg    Registry
	faults Faults
	said   map[string]bool
	fine   map[string]bool // storage levels without faults: only those are a place that steps can be checked in
}

// Validate returns everything that makes no sense about the study, all at once, as an InputError; nil when it can run.
func (s Study) Validate(r Registry) error {
	_, err := s.resolve(r)
	return err
}

// resolve checks the study and returns its cells, complete.
func (s Study) resolve(r Registry) ([]cell, error) {
	c := &checker{study: s, reg: r, faults: slices.Clone(s.faults), said: map[string]bool{}, fine: map[string]bool{}}
	if s.Name == "" && s.places == nil {
		return nil, c.faults.err() // nothing could be read
	}
	c.machine()
	c.disks()
	c.patterns()
	c.claims()
	if len(s.Factors.Workload) > 0 && s.Steps != nil {
		c.fault("steps", "the factor workload has steps of its own; keep one of the two")
	}
	nothing := len(s.Factors.Workload) == 0 && s.Steps == nil
	if nothing {
		c.fault("factors", "nothing to measure: add the factor workload, or steps")
	}
	if n := s.product(); n > maxTrials {
		c.fault("factors", fmt.Sprintf("the levels and rounds multiply to more than %d trials; a result could not be read any more", maxTrials))
		return nil, c.faults.err()
	}
	cells := s.cells()
	if len(cells) == 0 {
		c.fault("exclude", "leaves no cell to measure")
	}
	c.control(cells)
	c.levels()
	for i := range cells {
		c.resolve(&cells[i])
		if !nothing {
			c.steps(&cells[i])
		}
	}
	c.claimSteps(cells)
	return cells, c.faults.err()
}

// maxTrials is the largest plan: a year of trials of five minutes each.
const maxTrials = 100_000

// product is the number of trials before any pattern, or some number above maxTrials.
func (s Study) product() int {
	factors, _ := s.axes()
	n := s.Rounds
	for _, f := range factors {
		if n *= len(f.Levels); n > maxTrials {
			break
		}
	}
	return n
}

// fault notes a problem at a path; the place is that of the nearest part of the path that was written. Where decoding
// found a fault already, what follows from it is not said again.
func (c *checker) fault(path, problem string) {
	if c.broken(path) {
		return
	}
	if key := path + "\x00" + problem; !c.said[key] {
		c.said[key] = true
		c.faults = append(c.faults, Fault{Where: c.study.place(path), Path: path, Problem: problem})
	}
}

// broken tells whether decoding found a fault at a path, above it or below it.
func (c *checker) broken(path string) bool {
	return slices.ContainsFunc(c.study.faults, func(f Fault) bool {
		return f.Path == path || strings.HasPrefix(f.Path, path+".") || strings.HasPrefix(path, f.Path+".")
	})
}

// place finds where a path, or else the nearest path above it, was said.
func (s Study) place(path string) Where {
	for path != "" {
		if w, ok := s.places[path]; ok {
			return w
		}
		i := strings.LastIndexByte(path, '.')
		path = path[:max(i, 0)]
	}
	return Where{}
}

func (c *checker) machine() {
	if m := c.study.Machine.MemoryBytes; m < 512<<20 {
		c.fault("machine.memory", FormatSize(m)+" is too little for a kernel and a server, at least 512MiB")
	} else if m%(1<<20) != 0 {
		c.fault("machine.memory", FormatSize(m)+" is not a whole number of MiB")
	}
}

func (c *checker) disks() {
	if len(c.study.Disks) == 0 {
		c.fault("disks", "a study needs at least one disk, e.g. disks: {data: {size: 10GiB}}")
	}
	for _, d := range c.study.Disks {
		for _, p := range checkDisk(d, c.study.AllowUnsafe) {
			c.fault("disks."+d.Name+"."+p.key, p.problem)
		}
	}
}

// levels checks each storage level alone.
func (c *checker) levels() {
	for _, e := range c.study.Factors.Storage {
		c.storage("factors.storage."+e.Name, e.Value)
	}
}

// storage checks one storage level: its disks exist, and the filesystem takes them.
func (c *checker) storage(at string, s guest.Storage) {
	ok := true
	for _, d := range disksOf(c.study.layoutOf(s)) {
		if !slices.ContainsFunc(c.study.Disks, func(have Disk) bool { return have.Name == d }) {
			c.fault(at+".on", unknown("disk", d, c.study.diskNames()))
			ok = false
		}
	}
	if !ok {
		return
	}
	s.Layout = c.study.layoutOf(s)
	if slices.ContainsFunc(c.study.disksFor(s), func(d Disk) bool { return d.Claim != "" && d.Passport == nil }) {
		return // said at the claim
	}
	errs := c.reg.Storage(s, guestDisks(c.study.disksFor(s)))
	for _, err := range errs {
		c.fault(at, err.Error())
	}
	c.fine[at] = len(errs) == 0 && !c.broken(at)
}

// resolve completes a cell from the study and checks what only the combination of its levels can tell.
func (c *checker) resolve(x *cell) {
	x.storage.Layout = c.study.layoutOf(x.storage)
	x.disks = c.study.disksFor(x.storage)
	x.root, x.addons = c.reg.Images(x.storage)
	x.server.Serial = ServerSerial
	c.server(x)
}

// steps resolves the steps of a cell and checks each where it is to run.
func (c *checker) steps(x *cell) {
	w, at := c.study.workloadOf(*x)
	steps, problems := w.steps(c.study.engineOf(*x), c.reg)
	x.steps = steps
	for _, p := range problems {
		c.fault(stepPath(at, p.key), p.problem)
	}
	if len(problems) > 0 {
		return
	}
	site := Site{Server: x.server, Machine: c.study.Machine}
	if c.fine["factors.storage."+x.levels["storage"]] {
		site.Storage, site.Disks = x.storage, guestDisks(x.disks)
	}
	for i, st := range steps {
		if st.Workload == "" {
			continue
		}
		key := ""
		if w.Steps != nil {
			key = fmt.Sprintf("steps.%d.%s", i, st.Do)
		}
		for _, err := range c.reg.Step(st, site) {
			c.fault(stepPath(at, key), err.Error())
		}
	}
}

// server checks the image and the configuration of a cell. What is wrong with the image alone is said at the server,
// the rest at the configuration.
func (c *checker) server(x *cell) {
	if x.tarball == nil {
		if err := c.reg.Server(x.server.Image); err != nil {
			c.fault("factors.server."+x.levels["server"], err.Error())
			return
		}
	}
	for _, err := range c.reg.Config(x.server, c.study.Machine.MemoryBytes) {
		c.fault("factors.config."+x.levels["config"], err.Error())
	}
}

// stepPath joins the path of a workload level and that of a step in it. A study's own steps have the path steps.N.
func stepPath(at, key string) string {
	if key == "" {
		return at
	}
	if at == "steps" {
		return key
	}
	return at + "." + key
}
