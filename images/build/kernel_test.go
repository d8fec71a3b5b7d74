package build

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// elfKernel is the smallest ELF file with one note.
func elfKernel(t *testing.T, machine elf.Machine, name string, kind uint32) []byte {
	t.Helper()
	var note bytes.Buffer
	write := func(b *bytes.Buffer, v any) {
		t.Helper()
		if err := binary.Write(b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	// A first note with an odd size shows that the padding is skipped.
	write(&note, []uint32{4, 5, 1})
	note.WriteString("Xen\x00abcde\x00\x00\x00")
	write(&note, []uint32{uint32(len(name)), 4, kind})
	note.WriteString(name)
	note.WriteString("addr")

	var b bytes.Buffer
	write(&b, elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	})
	write(&b, elf.Prog64{Type: uint32(elf.PT_NOTE), Off: 120, Filesz: uint64(note.Len())})
	b.Write(note.Bytes())
	return b.Bytes()
}

// bzImage wraps a payload as the kernel's build does.
func bzImage(payload []byte) []byte {
	const setupSectors, offset = 3, 16
	image := make([]byte, (setupSectors+1)*512+offset, 8192)
	image[0x1f1] = setupSectors
	copy(image[0x202:], "HdrS")
	binary.LittleEndian.PutUint16(image[0x206:], 0x20f)
	binary.LittleEndian.PutUint32(image[0x248:], offset)
	binary.LittleEndian.PutUint32(image[0x24c:], uint32(len(payload)+4))
	image = append(image, payload...)
	return append(image, "size and then more code"...)
}

func TestUncompressKernel(t *testing.T) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	zstdOf := func(b []byte) []byte { return encoder.EncodeAll(b, nil) }
	pvh := elfKernel(t, elf.EM_X86_64, "Xen\x00", 18)
	good := bzImage(zstdOf(pvh))
	short := append([]byte{}, good...)
	binary.LittleEndian.PutUint32(short[0x24c:], 1<<30)
	broken := append([]byte{}, good...)
	broken[(3+1)*512+16+9] ^= 0xff
	for _, c := range []struct {
		name        string
		image, want []byte
	}{
		{"PVH kernel", good, pvh},
		{"no PVH entry", bzImage(zstdOf(elfKernel(t, elf.EM_X86_64, "Xen\x00", 17))), nil},
		{"another's note", bzImage(zstdOf(elfKernel(t, elf.EM_X86_64, "GNU\x00", 18))), nil},
		{"another architecture", bzImage(zstdOf(elfKernel(t, elf.EM_AARCH64, "Xen\x00", 18))), nil},
		{"not ELF", bzImage(zstdOf([]byte("text"))), nil},
		{"xz", bzImage([]byte("\xfd7zXZ\x00 and so on")), nil},
		{"wrong length", short, nil},
		{"damaged", broken, nil},
		{"arm64 Image", []byte("MZ\x00\x91"), nil},
	} {
		want := c.want
		if want == nil {
			want = c.image
		}
		if got := uncompressKernel(c.image); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d (in: %d)", c.name, len(got), len(want), len(c.image))
		}
	}
}

func TestWithoutSignature(t *testing.T) {
	signed := func(code string, length uint32) []byte {
		b := append([]byte(code), "SIGNATURE"...)
		b = append(b, 0, 0, 2, 0, 0, 0, 0, 0)
		b = binary.BigEndian.AppendUint32(b, length)
		return append(b, "~Module signature appended~\n"...)
	}
	for _, c := range []struct{ name, in, want string }{
		{"signed", string(signed("code", 9)), "code"},
		{"unsigned", "code", "code"},
		{"length too large", string(signed("code", 99)), string(signed("code", 99))},
		{"only the mark", "~Module signature appended~\n", "~Module signature appended~\n"},
	} {
		if got := string(withoutSignature([]byte(c.in))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
