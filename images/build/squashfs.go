package build

import (
	"context"
	"fmt"
	"strings"
)

// squashfs reads files of a finished root filesystem.
type squashfs struct {
	ctx  context.Context
	file string
}

func (s squashfs) read(path string) ([]byte, error) {
	data, err := output(s.ctx, "unsquashfs", "-no-progress", "-cat", s.file, strings.TrimPrefix(path, "/"))
	if err != nil {
		return nil, fmt.Errorf("read %s of the image: %w", path, err)
	}
	return data, nil
}
