package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"platter/guest"
	"platter/lab"
	"platter/lab/domain"
	"platter/lab/remote"
	"platter/results"
	"platter/results/store"
)

const (
	guestBinaryPath = "/run/platter/bin/platter-guest"
	guestJobPath    = "/run/platter/job.json"
	uploadTimeout   = 60 * time.Second // before scaling
	fetchTimeout    = 30 * time.Second // before scaling

	serverStartLimit = 60 * time.Second // before scaling
)

// trial is the state of one attempt at one trial.
type trial struct {
	*run
	lab.Trial
	dir     *store.TrialDir
	attempt int
	started time.Time

	bootSeconds *float64
	disks       []results.DiskFacts
	settings    []results.Setting
	evidence    string             // of a lost trial: the console's end
	identities  []results.Passport // of the real disks it has
	collected

	resume   *guest.Resume // what a crash left of the job; nil on the first machine
	spent    float64       // seconds of guests on earlier machines
	machines int           // how many there were, this one included

	mu     sync.Mutex
	pauses []string // what somebody did to the machine beside the job
	failed string   // which requests to its disks the host could not carry out

	rigFailed bool // the last of those was for a volume of ours, not for a real disk
}

// carryOut runs the trial and returns its result, whatever happened.
func (t *trial) carryOut(ctx context.Context) results.Result {
	undo := cleanup{log: t.Log, left: t.Left, of: t.ID}
	err := t.steps(ctx, &undo)
	if left := undo.run(ctx); left != nil {
		t.flags = append(t.flags, results.Flag{Name: "left_behind", Detail: left.Error()})
	}
	return t.result(ctx, err)
}

func (t *trial) steps(ctx context.Context, undo *cleanup) error {
	t.phase("volumes")
	data, err := t.volumes(ctx, undo)
	if err != nil {
		return err
	}
	for {
		err := t.onMachine(ctx, undo, data)
		if !errors.Is(err, errCrash) {
			return err
		}
		t.crashed()
	}
}

// onMachine carries the job, or what a crash left of it, out on a machine of its own. The error is errCrash when the guest
// asked for the machine's end, which has come then.
func (t *trial) onMachine(ctx context.Context, undo *cleanup, data []domain.Disk) error {
	t.machines++
	mine := &cleanup{log: t.Log, left: t.Left, of: t.ID}
	undo.include(mine)
	t.phase("boot")
	machine, session, err := t.boot(ctx, mine, data)
	if err != nil {
		return err
	}
	t.phase("upload")
	if err := t.uploadGuest(ctx, session); err != nil {
		return err
	}
	err = t.work(ctx, machine, session)
	if !errors.Is(err, errCrash) {
		return err
	}
	if left := mine.run(ctx); left != nil {
		return &lab.InfraError{What: "clear away the killed machine", Err: left}
	}
	return err
}

// work carries out the job in a machine that has the guest binary.
func (t *trial) work(ctx context.Context, machine Machine, session *remote.Session) error {
	if err := t.startJob(ctx, session); err != nil {
		return err
	}
	before, _ := machine.BlockStats(ctx)
	err := t.follow(ctx, machine, session)
	t.lastLook(ctx, machine)
	if errors.Is(err, errCrash) {
		if destroyErr := machine.Destroy(ctx); destroyErr != nil {
			return &lab.InfraError{What: "kill the machine for the crash check", Err: destroyErr}
		}
		return err
	}
	t.blockStats(ctx, machine, before)
	return errors.Join(err, t.bringHome(ctx, session))
}

// uploadGuest puts the guest binary into the guest and proves that it runs there.
func (t *trial) uploadGuest(ctx context.Context, session *remote.Session) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(float64(uploadTimeout)*t.scale()))
	defer cancel()
	client, err := session.Client(ctx)
	if err != nil {
		return &lab.InfraError{What: "reach the guest", Err: err}
	}
	binary, err := os.Open(t.guest.path)
	if err != nil {
		return &lab.InfraError{What: "read the guest binary", Err: err}
	}
	defer binary.Close()
	if err := client.Upload(ctx, guestBinaryPath, t.guest.size, 0o755, binary); err != nil {
		return &lab.InfraError{What: "upload the guest binary", Err: err}
	}
	if _, err := client.Probe(ctx, guestBinaryPath, "version"); err != nil {
		return &lab.InfraError{What: "run the guest binary", Err: err}
	}
	return nil
}

// startJob uploads the job and starts it.
func (t *trial) startJob(ctx context.Context, session *remote.Session) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(float64(uploadTimeout)*t.scale()))
	defer cancel()
	client, err := session.Client(ctx)
	if err != nil {
		return &lab.InfraError{What: "reach the guest", Err: err}
	}
	document, err := guest.EncodeJob(t.completeJob())
	if err != nil {
		return &lab.InfraError{What: "write the job", Err: err}
	}
	t.keep(t.of("effective/job.json"), document)
	if err := client.Upload(ctx, guestJobPath, int64(len(document)), 0o600, bytes.NewReader(document)); err != nil {
		return &lab.InfraError{What: "upload the job", Err: err}
	}
	if err := client.Run(ctx, []string{guestBinaryPath, "run", "--job", guestJobPath, "--dir", guestDir, "--detach"}, nil, nil, nil); err != nil {
		return &lab.InfraError{What: "start the job", Err: err}
	}
	return nil
}

// completeJob adds to the plan's job what is known only when it runs.
func (t *trial) completeJob() guest.Job {
	job := t.Job
	job.Build, job.Resume = lab.Version(), t.resume
	job.Disks = slices.Clone(job.Disks)
	for i := range job.Disks {
		job.Disks[i].HostCache = t.cacheOf(job.Disks[i].Name)
	}
	if job.Server.StartLimitSeconds == 0 {
		job.Server.StartLimitSeconds = serverStartLimit.Seconds() * t.scale()
	}
	return job
}

// cacheOf is the cache mode in force below a disk.
func (t *trial) cacheOf(disk string) string {
	for _, d := range t.disks {
		if d.Name == disk {
			return d.CacheEffective
		}
	}
	return ""
}

// follow reads the guest's events until Done, while it watches that the machine lives. On a cancelled context the agent
// is asked to stop in order, so that what was measured so far comes home. The events of all machines of a trial, if a
// crash check has several, go to one file.
func (t *trial) follow(ctx context.Context, machine Machine, session *remote.Session) error {
	if t.lines == nil {
		lines, err := t.dir.Events()
		if err != nil {
			return &lab.InfraError{What: "keep the guest's events", Err: err}
		}
		t.lines = lines
	}
	t.decoder = guest.NewDecoder(nil, lab.Version())

	following, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	go t.watch(following, machine, stop)
	defer context.AfterFunc(ctx, func() { t.interrupt(following, session, stop) })()

	argv := func(offset int64) []string {
		return []string{guestBinaryPath, "follow", "--dir", guestDir, "--offset", fmt.Sprint(offset)}
	}
	err := session.Follow(following, argv, writerFunc(t.line))
	if errors.Is(err, errCrash) {
		return errCrash
	}
	if closeErr := t.lines.Close(); closeErr != nil {
		t.Log.Warn("close the guest's events", "error", closeErr) // each line is on disk already
	}
	return t.verdict(ctx, following, machine, err)
}

// verdict is what a conversation that has ended means. err is how following it ended.
func (t *trial) verdict(ctx, following context.Context, machine Machine, err error) error {
	if t.done != nil {
		return t.doneError(ctx)
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if cause := context.Cause(following); cause != nil {
		err = cause
	} else if err == nil {
		err = t.decoder.End()
	}
	return t.lost(ctx, machine, err)
}

// interruptGrace is how long an interrupted agent may take to stop its server and say so. Tests have less patience.
var interruptGrace = 10 * time.Second

// interrupt asks the agent to stop and bounds the wait for its Done.
func (t *trial) interrupt(ctx context.Context, session *remote.Session, stop context.CancelCauseFunc) {
	grace := interruptGrace
	time.AfterFunc(grace, func() { stop(errInterrupted) })
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	client, err := session.Client(ctx)
	if err != nil {
		return
	}
	if err := client.Run(ctx, []string{guestBinaryPath, "stop", "--dir", guestDir}, nil, nil, nil); err != nil {
		t.Log.Warn("stop the guest agent", "error", err)
	}
}

var errInterrupted = errors.New("interrupted before the guest could finish")

// bringHome fetches the guest's files while the machine still answers.
func (t *trial) bringHome(ctx context.Context, session *remote.Session) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(float64(fetchTimeout)*t.scale()))
	defer cancel()
	if t.done == nil {
		return nil // nothing was announced as complete
	}
	client, err := session.Client(ctx)
	if err != nil {
		return &lab.InfraError{What: "reach the guest for its files", Err: err}
	}
	if err := t.fetch(ctx, client); err != nil {
		return &lab.InfraError{What: "bring the guest's files home", Err: err}
	}
	return nil
}

func (t *trial) phase(name string) {
	t.emit(lab.RunEvent{Kind: lab.PhaseStarted, Trial: t.Name, TrialID: t.ID, Index: t.Index + 1, Attempt: t.attempt, Phase: name})
}

type writerFunc func([]byte) error

func (f writerFunc) Write(p []byte) (int, error) {
	if err := f(p); err != nil {
		return 0, err
	}
	return len(p), nil
}
