package storage

import "testing"

func TestARCData(t *testing.T) {
	text := "13 1 0x01 147 39984 4216 9035\nname                            type data\nhits                            4    8\nsize                            4    7340032\ndata_size                       4    67108864\n"
	if n, err := arcData(text); err != nil || n != 64<<20 {
		t.Errorf("%d, %v", n, err)
	}
	for _, bad := range []string{"", "data_size 4 many\n", "hits 4 8\n"} {
		if n, err := arcData(bad); err == nil {
			t.Errorf("%q gave %d", bad, n)
		}
	}
}
