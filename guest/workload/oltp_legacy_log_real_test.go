package workload_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"platter/guest/server"
)

// generalLog runs f with the server's general log on and returns "Command argument" lines.
func generalLog(t *testing.T, srv *server.Server, f func()) []string {
	t.Helper()
	name := filepath.Join(srv.DataDir(), "general.log") // a bare name: a server in its own root knows other paths
	execute(t, srv, "SET GLOBAL general_log_file = 'general.log'", "SET GLOBAL general_log = ON")
	f()
	execute(t, srv, "SET GLOBAL general_log = OFF")
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(name)
	defer file.Close()
	line := regexp.MustCompile(`^\t\t|^\d{6} +[\d:]+\t|^\S+Z\t`)
	command := regexp.MustCompile(`^\s*\d+ ([A-Z][a-z ]+?)\t(.*)$`)
	var out []string
	sc := bufio.NewScanner(file)
	sc.Buffer(nil, 4<<20)
	for sc.Scan() {
		rest := line.ReplaceAllString(sc.Text(), "")
		if m := command.FindStringSubmatch(rest); m != nil {
			out = append(out, m[1]+" "+m[2])
		}
	}
	return out
}

// Row 2, and the vector in a real run: the first event of one thread, statement by statement.
func TestLegacyFirstEvent(t *testing.T) {
	srv := realServer(t)
	legacyTable(t, srv, 10000, "")
	log := generalLog(t, srv, func() { run(t, srv, "oltp_legacy", legacy(`, "max_requests": 1`)) })
	var got []string
	for _, l := range log {
		rest, ok := strings.CutPrefix(l, "Execute ")
		if !ok && strings.HasPrefix(l, "Query BEGIN") { // MySQL does not prepare it
			rest, ok = strings.CutPrefix(l, "Query ")
		}
		if ok {
			got = append(got, strings.ReplaceAll(rest, "INTO sbtest VALUES (", "INTO sbtest VALUES("))
		}
	}
	want := []string{"BEGIN"}
	for _, id := range []int{5273, 4957, 5013, 5792, 4973, 6380, 4522, 4503, 4824, 5048} {
		want = append(want, fmt.Sprintf("SELECT c FROM sbtest WHERE id=%d", id))
	}
	want = append(want,
		"SELECT c FROM sbtest WHERE id BETWEEN 4984 AND 5083", "SELECT SUM(K) FROM sbtest WHERE id BETWEEN 4977 AND 5076",
		"SELECT c FROM sbtest WHERE id BETWEEN 4951 AND 5050 ORDER BY c", "SELECT DISTINCT c FROM sbtest WHERE id BETWEEN 5018 AND 5118 ORDER BY c",
		"UPDATE sbtest SET k=k+1 WHERE id=4992",
		"UPDATE sbtest SET c='618268884-949692053-612769513-998075866-57522370-805218651-186358951-414361086-1079721-8783635' WHERE id=5028",
		"UPDATE sbtest SET k=k+1 WHERE id=5022", "DELETE FROM sbtest WHERE id=5022",
		"INSERT INTO sbtest VALUES(5022,0,' ','aaaaaaaaaaffffffffffrrrrrrrrrreeeeeeeeeeyyyyyyyyyy')", "COMMIT")
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the server executed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := one(t, srv, "SELECT COUNT(*) FROM sbtest.sbtest WHERE id = 5022 AND pad LIKE 'aaaaaaaaaaffffffffff%' AND k = 0"); n != 1 {
		t.Error("the row of the last steps does not have the afrey pad")
	}
}

// Row 2: the order of statements in every event, the range lengths, and the id its last three share.
func TestLegacyEveryEvent(t *testing.T) {
	srv := realServer(t)
	legacyTable(t, srv, 10000, "")
	const events = 100
	log := generalLog(t, srv, func() {
		run(t, srv, "oltp_legacy", legacy(fmt.Sprintf(`, "oltp_skip_trx": true, "max_requests": %d`, events)))
	})
	var shapes []string
	for range 10 {
		shapes = append(shapes, `^SELECT c FROM sbtest WHERE id=(\d+)$`)
	}
	shapes = append(shapes, `^SELECT c FROM sbtest WHERE id BETWEEN (\d+) AND (\d+)$`, `^SELECT SUM\(K\) FROM sbtest WHERE id BETWEEN (\d+) AND (\d+)$`,
		`^SELECT c FROM sbtest WHERE id BETWEEN (\d+) AND (\d+) ORDER BY c$`, `^SELECT DISTINCT c FROM sbtest WHERE id BETWEEN (\d+) AND (\d+) ORDER BY c$`,
		`^UPDATE sbtest SET k=k\+1 WHERE id=(\d+)$`, `^UPDATE sbtest SET c='[\d-]+' WHERE id=(\d+)$`,
		`^UPDATE sbtest SET k=k\+1 WHERE id=(\d+)$`, `^DELETE FROM sbtest WHERE id=(\d+)$`, `^INSERT INTO sbtest VALUES ?\((\d+),0,' ','a{10}f{10}r{10}e{10}y{10}'\)$`)
	var executed []string
	for _, l := range log {
		if rest, ok := strings.CutPrefix(l, "Execute "); ok {
			executed = append(executed, rest)
		}
	}
	if len(executed) != events*len(shapes) {
		t.Fatalf("%d statements, want %d", len(executed), events*len(shapes))
	}
	for i, statement := range executed {
		step := i % len(shapes)
		m := regexp.MustCompile(shapes[step]).FindStringSubmatch(statement)
		if m == nil {
			t.Fatalf("event %d, step %d: %s, want %s", i/len(shapes), step, statement, shapes[step])
		}
		if len(m) == 3 {
			from, _ := strconv.Atoi(m[1])
			to, _ := strconv.Atoi(m[2])
			if want := map[bool]int{true: 101, false: 100}[step == 13]; to-from+1 != want || from < 1 {
				t.Errorf("event %d: %s spans %d ids, want %d", i/len(shapes), statement, to-from+1, want)
			}
		}
		if y := regexp.MustCompile(shapes[16]).FindStringSubmatch(executed[i-step+16]); step > 16 && m[1] != y[1] {
			t.Errorf("event %d: %s is not about row %s", i/len(shapes), statement, y[1])
		}
	}
}
