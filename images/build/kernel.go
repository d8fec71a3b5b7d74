package build

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"
)

// uncompressKernel returns the ELF image inside an x86 bzImage when QEMU can
// start it, that is, when it has the entry point of the PVH boot protocol.
// Otherwise (another architecture, another compression) it returns the kernel
// as it is, which boots as well.
//
// It saves the kernel's own decompressor and relocation in every boot: under
// software emulation about a quarter of the time to the login. The kernel then
// lies at the same addresses in all trials.
func uncompressKernel(image []byte) []byte {
	payload, ok := bzImagePayload(image)
	if !ok || !bytes.HasPrefix(payload, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		return image
	}
	decoder, err := zstd.NewReader(bytes.NewReader(payload), zstd.WithDecoderMaxWindow(1<<30), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return image
	}
	defer decoder.Close()
	kernel, err := io.ReadAll(decoder)
	if err != nil || !hasPVHEntry(kernel) {
		return image
	}
	return kernel
}

// bzImagePayload finds the compressed kernel by the boot header (the kernel's
// Documentation/arch/x86/boot.rst), without the four bytes of size at its end.
func bzImagePayload(image []byte) ([]byte, bool) {
	const header, version, offset, length = 0x202, 0x206, 0x248, 0x24c
	if len(image) < length+4 || string(image[header:header+4]) != "HdrS" || binary.LittleEndian.Uint16(image[version:]) < 0x208 {
		return nil, false
	}
	setup := (int64(image[0x1f1]) + 1) * 512
	start := setup + int64(binary.LittleEndian.Uint32(image[offset:]))
	end := start + int64(binary.LittleEndian.Uint32(image[length:])) - 4
	if start > end || end > int64(len(image)) {
		return nil, false
	}
	return image[start:end], true
}

// hasPVHEntry looks for the note XEN_ELFNOTE_PHYS32_ENTRY.
func hasPVHEntry(kernel []byte) bool {
	const phys32Entry = 18
	file, err := elf.NewFile(bytes.NewReader(kernel))
	if err != nil || file.Machine != elf.EM_X86_64 {
		return false
	}
	for _, segment := range file.Progs {
		if segment.Type != elf.PT_NOTE {
			continue
		}
		notes, err := io.ReadAll(segment.Open())
		if err != nil {
			return false
		}
		for len(notes) >= 12 {
			name, desc := align4(binary.LittleEndian.Uint32(notes)), align4(binary.LittleEndian.Uint32(notes[4:]))
			kind := binary.LittleEndian.Uint32(notes[8:])
			if int64(len(notes)) < 12+name+desc {
				return false
			}
			if kind == phys32Entry && bytes.HasPrefix(notes[12:], []byte("Xen\x00")) {
				return true
			}
			notes = notes[12+name+desc:]
		}
	}
	return false
}

func align4(n uint32) int64 { return (int64(n) + 3) &^ 3 }
