package results

import (
	"math"
	"strconv"
	"strings"
)

// significant is how many digits reports print. The stored value keeps all of them.
const significant = 4

// Scale is a unit chosen for a group of values that are printed side by side, so that they can be compared by eye.
type Scale struct {
	Divisor float64 // a value is divided by this before it is printed
	Suffix  string  // what follows the digits, with its blank
}

// ScaleOf chooses the scale for values of one unit by the largest of them. Without values it is the base unit.
func ScaleOf(unit Unit, values ...float64) Scale {
	largest := 0.0
	for _, v := range values {
		largest = math.Max(largest, math.Abs(v))
	}
	switch unit {
	case Seconds:
		return pick(largest, []Scale{{1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}, {1e-9, " ns"}})
	case Bytes:
		return pick(largest, []Scale{{1 << 40, " TiB"}, {1 << 30, " GiB"}, {1 << 20, " MiB"}, {1 << 10, " KiB"}, {1, " B"}})
	case PerSecond:
		return Scale{1, "/s"}
	case Share:
		return Scale{0.01, " %"}
	default:
		return Scale{1, ""}
	}
}

// pick returns the largest scale that leaves at least 1 before the point; nothing at all is printed in the base unit.
func pick(largest float64, scales []Scale) Scale {
	if largest == 0 {
		for _, s := range scales {
			if s.Divisor == 1 {
				return s
			}
		}
	}
	for _, s := range scales {
		if largest >= s.Divisor {
			return s
		}
	}
	return scales[len(scales)-1]
}

// Format prints a value with four significant digits, thousands separated, and the scale's suffix: "1,843/s".
func (s Scale) Format(v float64) string { return FormatNumber(v/s.Divisor) + s.Suffix }

// FormatValue prints one value that stands alone, in the scale that fits it.
func FormatValue(v float64, unit Unit) string { return ScaleOf(unit, v).Format(v) }

// FormatNumber prints a number with four significant digits, all digits before the point, and commas between thousands.
// Numbers too small for six decimals are printed with an exponent.
func FormatNumber(v float64) string { return formatDigits(v, significant) }

// formatDigits is FormatNumber with a chosen number of significant digits.
func formatDigits(v float64, digits int) string {
	if v == 0 {
		return "0"
	}
	if !finite(v) {
		return "n/a"
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	exponent := int(math.Floor(math.Log10(math.Abs(rounded))))
	if exponent < -4 {
		return strconv.FormatFloat(v, 'e', digits-1, 64)
	}
	return withCommas(strconv.FormatFloat(v, 'f', max(0, digits-1-exponent), 64))
}

// FormatCount prints a whole number with commas.
func FormatCount(n int64) string { return withCommas(strconv.FormatInt(n, 10)) }

// FormatChange prints a ratio as a signed change: 0.926 is "-7.4%", 1.21 is "+21.0%"; from a factor of 2 on it is "×121".
func FormatChange(ratio float64) string {
	switch {
	case !finite(ratio) || ratio <= 0:
		return "n/a"
	case ratio >= 2:
		return "×" + formatDigits(ratio, 3)
	case ratio <= 0.5:
		return "÷" + formatDigits(1/ratio, 3)
	}
	change := strconv.FormatFloat((ratio-1)*100, 'f', 1, 64)
	if change == "-0.0" {
		change = "0.0"
	}
	if change[0] != '-' && change != "0.0" {
		change = "+" + change
	}
	return change + "%"
}

// FormatP prints a p-value as statistics journals do: "p=.002", "p<.001", "p=1".
func FormatP(p float64) string {
	switch {
	case p < 0.001:
		return "p<.001"
	case p >= 0.9995:
		return "p=1"
	}
	return "p=" + strings.TrimPrefix(strconv.FormatFloat(p, 'f', 3, 64), "0")
}

// withCommas separates thousands before the point.
func withCommas(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	whole, fraction, hasFraction := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if hasFraction {
		whole += "." + fraction
	}
	return sign + whole
}
