package storage

import (
	"context"
	"fmt"
	"strings"

	"platter/guest"
)

// cryptKey is a file whose 36 bytes stay the same while the machine runs; the volume lives no longer.
const cryptKey = "/proc/sys/kernel/random/boot_id"

// cryptHeader is what LUKS2 puts before the data.
const cryptHeader = 16 << 20

func init() {
	registerLayout(Layout{
		Name:     "crypt",
		Tools:    []string{"cryptsetup"},
		Modules:  []string{"dm-crypt"},
		Packages: []string{"cryptsetup-bin"},
		Options: []Option{
			{"type", "format of the volume", oneOf("luks2")},
			{"cipher", "cipher, mode and initial vector", matching(`[a-z0-9]+-[a-z0-9]+-[a-z0-9:]+`, "a cipher such as aes-xts-plain64")},
			{"key_size", "key in bits", oneOf("128", "256", "512")},
			{"sector_size", "bytes encrypted at once", powerOfTwo(512, 4096)},
			{"allow_discards", "1 passes discards on", bit},
			{"no_read_workqueue", "1 decrypts where the request is", bit},
			{"no_write_workqueue", "1 encrypts where the request is", bit},
		},
		MinOf: 1, MaxOf: 1,
		Check: checkCrypt,
		Build: buildCrypt,
		Teardown: func(_ guest.Layout, _ []Target, id int) [][]string {
			return [][]string{{"cryptsetup", "close", cryptName(id)}}
		},
		Describe: describe("crypt"),
		ReadBack: readBackCrypt,
		Busy:     layoutNeverBusy,
	})
}

func cryptName(id int) string { return fmt.Sprintf("platter-crypt%d", id) }

func checkCrypt(node guest.Layout, of []Target) []error {
	var errs []error
	if of[0].SizeBytes > 0 && of[0].SizeBytes <= cryptHeader {
		errs = append(errs, fmt.Errorf("layout crypt: %d bytes are not over its header of %d", of[0].SizeBytes, cryptHeader))
	}
	if v := node.Options["sector_size"]; v != "" {
		if n, _ := ParseSize(v); n < of[0].LogicalBlockBytes {
			errs = append(errs, fmt.Errorf("layout crypt: sector_size %s is under the disk's logical block of %d bytes", v, of[0].LogicalBlockBytes))
		}
	}
	return errs
}

func buildCrypt(node guest.Layout, of []Target, id int) (Target, []Step) {
	// The key derivation protects a passphrase, not this key, and does not touch the data path: the
	// cheapest one saves minutes of emulated time and the gigabyte argon2 would take.
	format := []string{
		"cryptsetup", "luksFormat", "--batch-mode", "--type", "luks2", "--key-file", cryptKey, "--keyfile-size", "36",
		"--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000",
	}
	for _, o := range []struct{ name, flag string }{{"cipher", "--cipher"}, {"key_size", "--key-size"}, {"sector_size", "--sector-size"}} {
		if v := node.Options[o.name]; v != "" {
			format = append(format, o.flag, plainBytes(v))
		}
	}
	open := []string{"cryptsetup", "open", "--type", "luks2", "--key-file", cryptKey, "--keyfile-size", "36"}
	for _, o := range []struct{ name, flag string }{
		{"allow_discards", "--allow-discards"}, {"no_read_workqueue", "--perf-no_read_workqueue"}, {"no_write_workqueue", "--perf-no_write_workqueue"},
	} {
		if node.Options[o.name] == "1" {
			open = append(open, o.flag)
		}
	}
	path, disk := "/dev/mapper/"+cryptName(id), of[0].Device()
	size := max(0, of[0].SizeBytes-cryptHeader)
	await := Node{Path: path, SizeBytes: size}
	if of[0].Estimated {
		await.SizeBytes = 0
	}
	return Target{Devices: []string{path}, SizeBytes: size, Estimated: of[0].Estimated, LogicalBlockBytes: of[0].LogicalBlockBytes}, []Step{
		{Argv: append(format, disk)},
		{Argv: append(open, disk, cryptName(id)), Await: []Node{await}},
		// Deciphered, the old content of the disk is noise; in a noise of this size a signature can be found.
		{Argv: []string{"wipefs", "--all", path}},
	}
}

func readBackCrypt(ctx context.Context, ex Exec, _ guest.Layout, t Target) (map[string]string, error) {
	out, err := ex.Run(ctx, "cryptsetup", "status", strings.TrimPrefix(t.Device(), "/dev/mapper/"))
	if err != nil {
		return nil, err
	}
	return parseCrypt(string(out)), nil
}

func parseCrypt(text string) map[string]string {
	facts := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && value != "" {
			facts[name] = strings.TrimSpace(value)
		}
	}
	facts["type"] = strings.ToLower(facts["type"])
	facts["key_size"] = strings.TrimSuffix(facts["keysize"], " bits")
	facts["sector_size"] = facts["sector size"]
	flags := facts["flags"]
	for option, flag := range map[string]string{
		"allow_discards": "discards", "no_read_workqueue": "no_read_workqueue", "no_write_workqueue": "no_write_workqueue",
	} {
		facts[option] = "0"
		if strings.Contains(flags, flag) {
			facts[option] = "1"
		}
	}
	return facts
}
