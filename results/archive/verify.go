package archive

import (
	"errors"
	"fmt"
	"os"

	"platter/results/store"
)

// Verify proves a packed file and then, with check, every run in it, which is unpacked into the system's temporary
// directory for as long. A fault of the file itself is a *store.Problem.
func Verify(file string, limits Limits, check func(*store.Run) error) error {
	temp, release, err := makeTemp(os.TempDir())
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	defer release()
	runs, err := extract(file, temp, limits)
	if err != nil {
		return err
	}
	var errs []error
	for _, run := range runs {
		errs = append(errs, check(run))
	}
	return errors.Join(errs...)
}
