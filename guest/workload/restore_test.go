package workload

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func dumpOf(r *Restore, seed uint64) []dumpStatement {
	var out []dumpStatement
	r.write(seed, func(st dumpStatement) bool { out = append(out, st); return true })
	return out
}

// 30000 rows are 5.96 MB of text in 6 inserts; the same seed makes the same dump, and only the engine clause differs.
func TestDump(t *testing.T) {
	w, err := Decode("restore", json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	r := w.(*Restore)
	inserts, bytes, rows := 0, 0, int64(0)
	first := dumpOf(r, 5)
	for _, st := range first {
		if st.rows > 0 {
			inserts++
			bytes += len(st.text)
			rows += st.rows
			if len(st.text) > r.StatementBytes {
				t.Errorf("an insert of %d bytes", len(st.text))
			}
		}
	}
	if inserts != 6 || rows != 30000 || bytes < 5_900_000 || bytes > 6_020_000 {
		t.Errorf("%d inserts, %d rows, %d bytes", inserts, rows, bytes)
	}
	other := *r
	other.Engine = "myisam"
	differ := 0
	for i, st := range dumpOf(&other, 5) {
		if st.text != first[i].text {
			differ++
			if strings.Replace(st.text, "ENGINE=myisam", "ENGINE=innodb", 1) != first[i].text {
				t.Errorf("statement %d differs in more than its engine: %s", i, shorten(st.text))
			}
		}
	}
	if differ != 1 {
		t.Errorf("%d statements differ between engines", differ)
	}
	if dumpOf(r, 6)[11].text == first[11].text {
		t.Error("another seed gives the same rows")
	}
}

// TestDumpOfASize: a dump made to a size has that size within 1 %, whatever the number of digits and tables.
func TestDumpOfASize(t *testing.T) {
	for _, c := range []struct{ bytes, tables int }{{100_000, 1}, {4_000_000, 1}, {25_000_000, 1}, {3_000_000, 7}} {
		w, err := Decode("restore", json.RawMessage(fmt.Sprintf(`{"dump_bytes":%d,"tables":%d}`, c.bytes, c.tables)))
		if err != nil {
			t.Fatal(err)
		}
		if errs := w.Check(Place{}); errs != nil {
			t.Fatal(errs)
		}
		bytes, rows := 0, int64(0)
		for _, st := range dumpOf(w.(*Restore), 5) {
			bytes += len(st.text)
			rows += st.rows
		}
		if off := float64(bytes)/float64(c.bytes) - 1; off < -0.01 || off > 0.01+2000*float64(c.tables)/float64(c.bytes) {
			t.Errorf("asked %d bytes in %d tables, made %d", c.bytes, c.tables, bytes)
		}
		if want := w.(*Restore).rows() * int64(c.tables); rows != want {
			t.Errorf("%d rows, the workload expects %d", rows, want)
		}
	}
	if w, err := Decode("restore", json.RawMessage(`{"dump_bytes":5000,"tables":7}`)); err != nil || len(w.Check(Place{})) != 1 {
		t.Errorf("715 bytes a table are accepted: %v", err)
	}
}

func TestReadDump(t *testing.T) {
	text := "/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump\n\n/*!40101 SET NAMES utf8mb4 */;\nCREATE TABLE `a` (\n  `b` int\n) ENGINE=InnoDB;\nINSERT INTO `a` VALUES\n(1,'x;y'),\n(2,'z\\n;');\n-- end\n"
	var got []string
	readDump(strings.NewReader(text), func(st dumpStatement) bool {
		if st.err != nil {
			t.Error(st.err)
		}
		got = append(got, st.text)
		return true
	})
	want := []string{"/*!40101 SET NAMES utf8mb4 */", "CREATE TABLE `a` (\n  `b` int\n) ENGINE=InnoDB", "INSERT INTO `a` VALUES\n(1,'x;y'),\n(2,'z\\n;')"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q, want %q", got, want)
	}
	var failed error
	readDump(strings.NewReader("INSERT INTO `a` VALUES (1"), func(st dumpStatement) bool { failed = st.err; return true })
	if failed == nil || !strings.Contains(failed.Error(), "middle of a statement") {
		t.Errorf("a dump that was cut: %v", failed)
	}
}
