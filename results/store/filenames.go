package store

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The names inside a run folder. They are written here and nowhere else.
const (
	RunFile     = "run.json"     // identity and state; replaced when the run ends
	PlanFile    = "plan.json"    // expanded plan: order, seeds
	MetricsFile = "metrics.json" // metric registry of the platter that wrote the folder
	JournalFile = "journal.jsonl"
	ReadmeFile  = "README.txt"
	SumsFile    = "SHA256SUMS" // of everything but itself, derived/ and report/

	CrateFile      = "ro-crate-metadata.json" // what lies in the folder; written when the run ends
	ProvenanceFile = "provenance.json"        // in-toto statement; written when the run ends

	StudyDir   = "study" // the user's files, verbatim
	EnvDir     = "env"
	RawDir     = "env/raw"
	HostFile   = "env/host.json"
	TrialsDir  = "trials"
	DerivedDir = "derived" // can be made again
	ReportDir  = "report"  // can be made again
	SchemaDir  = "schema"
)

// The names inside a trial attempt's folder.
const (
	ResultFile = "result.json" // written last; its presence means complete
	EventsFile = "events.jsonl"
	Samples    = "samples.csv" // kept as SamplesFile
	Latency    = "latency.hlog"

	Console   = "logs/console.log"
	ServerLog = "logs/server.log"
	Dmesg     = "logs/dmesg.log"
	AgentLog  = "logs/agent.log"

	Domain      = "effective/domain.xml"
	CommandLine = "effective/qemu-command-line.txt"
	Job         = "effective/job.json"

	SamplesFile = Samples + compressedSuffix

	effectiveDir     = "effective/"
	logsDir          = "logs/"
	compressedSuffix = ".zst"
)

// guestFiles says where a file fetched from the guest goes. No other name of the guest is used on the host.
var guestFiles = map[string]string{
	"samples.csv": Samples,
	"server.log":  ServerLog,
	"dmesg.log":   Dmesg,
	"agent.log":   AgentLog,
}

// GuestFileName returns the place inside a trial's folder for a file the guest announced, and false for a name that is
// not one of the protocol's.
func GuestFileName(guestName string) (string, bool) {
	name, ok := guestFiles[guestName]
	return name, ok
}

// Sizes at which a file of a trial is cut, because a guest may write without end.
const (
	logLimitBytes    = 32 << 20
	samplesLimit     = 256 << 20 // before compression
	eventsLimitBytes = 256 << 20
	resultLimitBytes = 32 << 20
	smallLimitBytes  = 8 << 20 // effective/…
)

func limitOf(name string) int64 {
	switch {
	case name == Samples:
		return samplesLimit
	case name == EventsFile:
		return eventsLimitBytes
	case name == ResultFile, name == Latency:
		return resultLimitBytes
	case strings.HasPrefix(name, logsDir):
		return logLimitBytes
	default:
		return smallLimitBytes
	}
}

const timeLayout = "20060102T150405Z"

var (
	runIDPattern   = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z-[a-z0-9._-]+$`)
	trialIDPattern = regexp.MustCompile(`^[0-9]{3,}-[A-Za-z0-9][A-Za-z0-9._+=,-]{0,180}/[0-9]+$`)
	baseName       = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._ +=,@-]{0,120}$`)
	notStudyName   = regexp.MustCompile(`[^a-z0-9._-]+`)
)

// StudyName is a study's name as it is in the names of its runs.
func StudyName(study string) string {
	name := strings.Trim(notStudyName.ReplaceAllString(strings.ToLower(study), "-"), "-.")
	if name == "" {
		name = "study"
	}
	return name[:min(len(name), 64)]
}

// runID is the folder's name without a counter: UTC start, study, 6 hex digits of the plan's digest.
func runID(start time.Time, study, planDigest string) string {
	return fmt.Sprintf("%s-%s-%.6s", start.UTC().Format(timeLayout), StudyName(study), strings.TrimPrefix(planDigest, "sha256:"))
}

var runIDParts = regexp.MustCompile(`^([0-9]{8}T[0-9]{6}Z)-([a-z0-9._-]+)-[0-9a-f]{6}(-[0-9]+)?$`)

// SplitRunID takes a run's name apart into its start and its study's name.
func SplitRunID(id string) (start time.Time, study string, ok bool) {
	parts := runIDParts.FindStringSubmatch(id)
	if parts == nil {
		return time.Time{}, "", false
	}
	start, err := time.Parse(timeLayout, parts[1])
	return start, parts[2], err == nil
}

// trialDir is where an attempt of a trial lies, relative to the run folder. The id is <nnn>-<cell>/<round>.
func trialDir(id string, attempt int) (string, error) {
	if !trialIDPattern.MatchString(id) {
		return "", fmt.Errorf("trial id %q: want <nnn>-<cell>/<round> of letters, digits and ._+=,-", id)
	}
	if attempt < 1 {
		return "", fmt.Errorf("trial %s: attempt %d; attempts count from 1", id, attempt)
	}
	return filepath.Join(TrialsDir, filepath.FromSlash(id)) + "-" + strconv.Itoa(attempt), nil
}

// trialFile refuses every name that is not one of a trial's own.
func trialFile(name string) error {
	switch name {
	case Samples, Latency, EventsFile:
		return nil
	}
	for _, dir := range []string{effectiveDir, logsDir} {
		if rest, ok := strings.CutPrefix(name, dir); ok && baseName.MatchString(rest) {
			return nil
		}
	}
	return fmt.Errorf("%q is no name for a file of a trial: want %s, %s, %s…, %s…", name, Samples, Latency, effectiveDir, logsDir)
}
