package workload

import (
	"math/rand/v2"
	"sync/atomic"
)

// tpccConstants are the constants C of the non-uniform distribution, drawn once a run.
type tpccConstants struct{ customer, item, name int }

func newTPCCConstants(seed uint64) tpccConstants {
	r := rand.New(rand.NewPCG(seed, 0x79CC))
	return tpccConstants{customer: r.IntN(1024), item: r.IntN(8192), name: r.IntN(256)}
}

// nuRand is the standard's non-uniform random number between x and y (clause 2.1.6).
func nuRand(r *rand.Rand, a, c, x, y int) int {
	return (((r.IntN(a+1) | (x + r.IntN(y-x+1))) + c) % (y - x + 1)) + x
}

// tpccSyllables make the last names: three of them spell a number from 0 to 999.
var tpccSyllables = [10]string{"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"}

func lastName(n int) string {
	return tpccSyllables[n/100%10] + tpccSyllables[n/10%10] + tpccSyllables[n%10]
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// appendLetters appends between low and high random letters and digits.
func appendLetters(b []byte, r *rand.Rand, low, high int) []byte {
	for range low + r.IntN(high-low+1) {
		b = append(b, letters[r.IntN(len(letters))])
	}
	return b
}

// tpccStats are what only this workload counts, over all clients.
type tpccStats struct {
	done           [5]atomic.Int64
	rollbacks      atomic.Int64
	lines          atomic.Int64
	remoteLines    atomic.Int64
	remotePayments atomic.Int64
}

// The five transactions, as indexes of tpccStats.done and offsets of kindNewOrder.
const (
	tpccNewOrder = iota
	tpccPayment
	tpccOrderStatus
	tpccDelivery
	tpccStockLevel
)

// tpccMix is drawn from uniformly: 10 : 10 : 1 : 1 : 1.
var tpccMix = [23]int{
	tpccNewOrder, tpccNewOrder, tpccNewOrder, tpccNewOrder, tpccNewOrder, tpccNewOrder, tpccNewOrder, tpccNewOrder, tpccNewOrder, tpccNewOrder,
	tpccPayment, tpccPayment, tpccPayment, tpccPayment, tpccPayment, tpccPayment, tpccPayment, tpccPayment, tpccPayment, tpccPayment,
	tpccOrderStatus, tpccDelivery, tpccStockLevel,
}
