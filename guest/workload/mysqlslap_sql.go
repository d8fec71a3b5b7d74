package workload

import (
	"fmt"
	"strings"
)

// slapKind is what a generated statement does; it names the operation in results and says whether a key is added.
type slapKind string

// The kinds of statements. Own statements are all of kind query.
const (
	slapInsert slapKind = "insert"
	slapSelect slapKind = "select"
	slapUpdate slapKind = "update"
	slapQuery  slapKind = "query"
)

// slapStatement is one statement of the list. byKey statements end with the key's condition, which the client adds.
type slapStatement struct {
	kind  slapKind
	text  string
	byKey bool
}

// slapScript is everything one mysqlslap sends but the keys: the set-up and the list.
type slapScript struct {
	create  []string // CREATE TABLE first, then the distinct inserts, reused in turn
	list    []slapStatement
	hasID   bool
	ownText bool // create and list are the user's
}

// slapCharacters are those of generated strings; the original's alphabet leaves out U and V.
const slapCharacters = "0123456789ABCDEFGHIJKLMNOPQRSTWXYZabcdefghijklmnopqrstuvwxyz"

// slapStringLength is the length of a generated string.
const slapStringLength = 126

// script builds the statements in the order the original draws its random numbers: set-up inserts first, then the list.
func (m *Mysqlslap) script() slapScript {
	if !m.AutoGenerateSQL {
		sc := slapScript{create: m.create(), ownText: true}
		for _, q := range m.query() {
			sc.list = append(sc.list, slapStatement{kind: slapQuery, text: q})
		}
		return sc
	}
	g := slapGenerator{m: m, random: newGlibcRandom(1)}
	sc := slapScript{create: []string{g.table()}, hasID: m.hasID()}
	for range m.UniqueWriteNumber {
		sc.create = append(sc.create, g.insert())
	}
	for i := range m.UniqueQueryNumber + 1 {
		sc.list = append(sc.list, g.statement(i))
	}
	return sc
}

type slapGenerator struct {
	m      *Mysqlslap
	random *glibcRandom
}

func (g *slapGenerator) statement(i int) slapStatement {
	switch g.m.LoadType {
	case "read":
		return slapStatement{kind: slapSelect, text: g.selectAll()}
	case "key":
		return slapStatement{slapSelect, g.selectAll() + slapKeyCondition, true}
	case "write":
		return slapStatement{kind: slapInsert, text: g.insert()}
	case "update":
		if g.m.hasID() {
			return slapStatement{slapUpdate, g.update() + slapKeyCondition, true}
		}
		return slapStatement{kind: slapUpdate, text: g.update()}
	}
	if i%2 == 0 {
		return slapStatement{kind: slapInsert, text: g.insert()}
	}
	if g.m.hasID() {
		return slapStatement{slapSelect, g.selectAll() + slapKeyCondition, true}
	}
	return slapStatement{kind: slapSelect, text: g.selectAll()}
}

// slapKeyCondition is followed by a quoted key; both blanks are the original's.
const slapKeyCondition = " WHERE id =  "

func (g *slapGenerator) table() string {
	var cols []string
	if g.m.AddAutoincrement {
		cols = append(cols, "id serial")
	}
	if g.m.GUIDPrimary {
		cols = append(cols, "id varchar(36) primary key")
	}
	for i := range g.m.SecondaryIndexes {
		cols = append(cols, fmt.Sprintf("id%d varchar(36) unique key", i))
	}
	cols = append(cols, slapColumns("intcol", "INT(32)", g.m.NumberIntCols)...)
	cols = append(cols, slapColumns("charcol", "VARCHAR(128)", g.m.NumberCharCols)...)
	return "CREATE TABLE `t1` (" + strings.Join(cols, ",") + ")"
}

func slapColumns(name, kind string, c Columns) []string {
	var out []string
	for i := 1; i <= c.Number; i++ {
		col := fmt.Sprintf("%s%d %s", name, i, kind)
		if c.Index {
			col += fmt.Sprintf(", INDEX(%s%d)", name, i)
		}
		out = append(out, col)
	}
	return out
}

func (g *slapGenerator) insert() string {
	var values []string
	if g.m.AddAutoincrement {
		values = append(values, "NULL")
	}
	if g.m.GUIDPrimary {
		values = append(values, "uuid()")
	}
	for range g.m.SecondaryIndexes {
		values = append(values, "uuid()")
	}
	for range g.m.NumberIntCols.Number {
		values = append(values, fmt.Sprint(g.random.next()))
	}
	for range g.m.NumberCharCols.Number {
		values = append(values, "'"+g.text()+"'")
	}
	return "INSERT INTO t1 VALUES (" + strings.Join(values, ",") + ")"
}

func (g *slapGenerator) selectAll() string {
	return "SELECT " + strings.Join(g.columns(), ",") + " FROM t1"
}

func (g *slapGenerator) update() string {
	var sets []string
	for i := range g.m.NumberIntCols.Number {
		sets = append(sets, fmt.Sprintf("intcol%d = %d", i+1, g.random.next()))
	}
	for i := range g.m.NumberCharCols.Number {
		sets = append(sets, fmt.Sprintf("charcol%d = '%s'", i+1, g.text()))
	}
	return "UPDATE t1 SET " + strings.Join(sets, ",")
}

func (g *slapGenerator) columns() []string {
	var out []string
	for i := range g.m.NumberIntCols.Number {
		out = append(out, fmt.Sprintf("intcol%d", i+1))
	}
	for i := range g.m.NumberCharCols.Number {
		out = append(out, fmt.Sprintf("charcol%d", i+1))
	}
	return out
}

func (g *slapGenerator) text() string {
	var b [slapStringLength]byte
	for i := range b {
		b[i] = slapCharacters[g.random.next()%int64(len(slapCharacters))]
	}
	return string(b[:])
}

func (m *Mysqlslap) dropSchema() string {
	return "DROP SCHEMA IF EXISTS " + quoteName(m.CreateSchema)
}

// setupInserts is how many rows the set-up inserts: its statements without the CREATE TABLE.
func (m *Mysqlslap) setupInserts() int {
	if !m.AutoGenerateSQL {
		return 0
	}
	return max(m.WriteNumber-1, 0)
}

func (m *Mysqlslap) listLength() int {
	if m.AutoGenerateSQL {
		return m.UniqueQueryNumber + 1
	}
	return len(m.query())
}

// insertsOf is how many inserts there are among the first n statements a client runs.
func (m *Mysqlslap) insertsOf(n int) int {
	switch {
	case !m.AutoGenerateSQL:
		return 0
	case m.LoadType == "write":
		return n
	case m.LoadType == "mixed":
		length := m.listLength()
		return n/length*((length+1)/2) + (n%length+1)/2
	}
	return 0
}

// expectedRows is the number of rows in t1 after a timed part.
func (m *Mysqlslap) expectedRows(clients int) int64 {
	n := m.limit(clients)
	if n == 0 {
		n = m.listLength()
	}
	return int64(m.setupInserts()) + int64(clients)*int64(m.insertsOf(n))
}
