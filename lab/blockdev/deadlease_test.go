package blockdev

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestDeadLeases: a lease whose process is gone is found and ended; those that are held, were given back or are not ours
// stay as they are.
func TestDeadLeases(t *testing.T) {
	dir := t.TempDir()
	owner, err := NewOwner()
	if err != nil {
		t.Fatal(err)
	}
	take := func(serial string) *lease {
		l, _, err := takeLease(dir, serial, owner)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	held := take("held")
	defer held.end()
	if err := take("back").end(); err != nil {
		t.Fatal(err)
	}
	take("dead").file.Close() // as the kernel does when a process is killed
	for name, text := range map[string]string{"notes.json": "{}", fileOf("other"): `{"schema":"platter.lease/1","serial":"another","owner":{"pid":7}}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := DeadLeases(dir)
	if err != nil || len(found) != 1 || found[0].Serial != "dead" || found[0].Owner != owner {
		t.Fatalf("found %+v, %v", found, err)
	}
	stuck := errors.New("stuck")
	if err := FreeDeadLease(dir, found[0], func() error { return stuck }); !errors.Is(err, stuck) {
		t.Errorf("what could not be given back: %v", err)
	}
	if again, _ := DeadLeases(dir); len(again) != 1 {
		t.Error("a lease ended although its disk was not given back")
	}
	again := take("dead")
	if err := FreeDeadLease(dir, found[0], func() error { return stuck }); err != nil {
		t.Errorf("a lease that is held again was touched: %v", err)
	}
	again.file.Close()
	if found, err = DeadLeases(dir); err != nil || len(found) != 1 {
		t.Fatalf("found %+v, %v", found, err)
	}
	given := 0
	for range 2 {
		if err := FreeDeadLease(dir, found[0], func() error { given++; return nil }); err != nil {
			t.Error(err)
		}
	}
	if left, err := DeadLeases(dir); given != 1 || err != nil || len(left) != 0 {
		t.Errorf("given back %d times, left %v, %v", given, left, err)
	}
	if err := FreeDeadLease(dir, Lease{Serial: "never"}, nil); err != nil {
		t.Error(err)
	}
}
