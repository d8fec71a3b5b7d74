package guest

import "runtime/debug"

// Version is the build identity both binaries of one build share; the Makefile sets it with
// -ldflags "-X platter/guest.Version=…". Read it through Build.
var Version string

// Build returns the build identity: Version, else the revision the toolchain stamped, else "devel".
// A host and a guest of different builds refuse each other.
func Build() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return "devel"
	}
	return revision + dirty
}
