package workload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
)

// dumpBefore and dumpAfter are the session settings mysqldump puts around its tables.
var (
	dumpBefore = []string{
		"/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */", "/*!40101 SET NAMES utf8mb4 */",
		"/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */", "/*!40103 SET TIME_ZONE='+00:00' */",
		"/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */",
		"/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */",
		"/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */",
	}
	dumpAfter = []string{
		"/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */", "/*!40101 SET SQL_MODE=@OLD_SQL_MODE */",
		"/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */", "/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */",
		"/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */",
	}
)

// write makes the dump: tables of sysbench 1.0's form, the same rows for the same seed whatever the engine. It stops when
// give returns false.
func (r *Restore) write(seed uint64, give func(dumpStatement) bool) {
	plain := func(texts ...string) bool {
		for _, t := range texts {
			if !give(dumpStatement{text: t}) {
				return false
			}
		}
		return true
	}
	if !plain(dumpBefore...) {
		return
	}
	for i := range r.Tables {
		name := "`" + tableName(i) + "`"
		engine := ""
		if r.Engine != "" {
			engine = " ENGINE=" + r.Engine
		}
		begin := []string{"DROP TABLE IF EXISTS " + name,
			"CREATE TABLE " + name + " (\n  `id` int(11) NOT NULL AUTO_INCREMENT,\n  `k` int(11) NOT NULL DEFAULT 0,\n  `c` char(120) NOT NULL DEFAULT '',\n" +
				"  `pad` char(60) NOT NULL DEFAULT '',\n  PRIMARY KEY (`id`),\n  KEY `k_" + strconv.Itoa(i+1) + "` (`k`)\n)" + engine + " AUTO_INCREMENT=" + strconv.FormatInt(r.rows()+1, 10),
			"LOCK TABLES " + name + " WRITE", "/*!40000 ALTER TABLE " + name + " DISABLE KEYS */"}
		end := []string{"/*!40000 ALTER TABLE " + name + " ENABLE KEYS */", "UNLOCK TABLES"}
		if !r.Autocommit {
			begin, end = append(begin, "set autocommit=0"), append(end, "commit")
		}
		if !plain(begin...) || !r.inserts(seed, i, name, give) || !plain(end...) {
			return
		}
	}
	plain(dumpAfter...)
}

// dumpRowBytes is a row as text without its two numbers: (,,'119 digits and dashes','59'),
const dumpRowBytes = 188

// inserts packs a table's rows into statements of at most statement_bytes.
func (r *Restore) inserts(seed uint64, table int, name string, give func(dumpStatement) bool) bool {
	random := rand.New(rand.NewPCG(seed, 2<<32|uint64(table)))
	ids := newDistribution("special", random, 1, r.rows(), 12, 1, 75, 0.2)
	head := "INSERT INTO " + name + " VALUES "
	var text, row []byte
	var rows int64
	for id := range r.rows() {
		id++
		row = append(row[:0], '(')
		row = append(strconv.AppendInt(row, id, 10), ',')
		row = append(strconv.AppendInt(row, ids.id(), 10), ",'"...)
		row = append(appendDigits(row, random, 10), "','"...)
		row = append(appendDigits(row, random, 5), "')"...)
		if rows > 0 && len(text)+1+len(row) > r.StatementBytes {
			if !give(dumpStatement{text: string(text), rows: rows}) {
				return false
			}
			rows = 0
		}
		if rows == 0 {
			text = append(text[:0], head...)
		} else {
			text = append(text, ',')
		}
		text = append(text, row...)
		rows++
	}
	return give(dumpStatement{text: string(text), rows: rows})
}

// longestDumpLine is the most one line of a dump may have: the server takes no longer statement.
const longestDumpLine = 1 << 30

// readDump gives the statements of a dump file as they are. A statement ends at a line that ends in a semicolon: line
// breaks inside values are escaped in a dump. Comment lines are left out, MariaDB's sandbox line among them, which other
// clients and servers refuse.
func readDump(f io.Reader, give func(dumpStatement) bool) {
	in := bufio.NewReaderSize(f, 1<<20)
	var text strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			give(dumpStatement{err: fmt.Errorf("read the dump: %w", err)})
			return
		}
		trimmed := strings.TrimSpace(line)
		switch {
		case text.Len() == 0 && (trimmed == "" || strings.HasPrefix(trimmed, "--") || strings.HasPrefix(trimmed, "/*M!999999")):
		case text.Len()+len(line) > longestDumpLine:
			give(dumpStatement{err: fmt.Errorf("read the dump: a statement of over %d bytes", longestDumpLine)})
			return
		case strings.HasSuffix(trimmed, ";"):
			text.WriteString(strings.TrimSuffix(strings.TrimRight(line, "\r\n\t "), ";"))
			if !give(dumpStatement{text: text.String()}) {
				return
			}
			text.Reset()
		default:
			text.WriteString(line)
		}
		if err != nil {
			if strings.TrimSpace(text.String()) != "" {
				give(dumpStatement{err: errors.New("read the dump: it ends in the middle of a statement")})
			}
			return
		}
	}
}
