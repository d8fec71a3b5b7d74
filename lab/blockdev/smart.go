package blockdev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// Health is what a drive says of its own condition, by name with the unit in it; nil values are unknown.
type Health map[string]*float64

// smartLimit is how long a drive may take to answer; one that sleeps has to spin up first.
const smartLimit = 30 * time.Second

// ErrNoSMART says that a drive's condition cannot be asked: it has none, or smartctl is not installed.
var ErrNoSMART = errors.New("no SMART")

// ReadHealth asks a drive through smartctl.
func ReadHealth(ctx context.Context, node string) (Health, error) {
	program, err := exec.LookPath("smartctl")
	if err != nil {
		return nil, fmt.Errorf("%w of %s: smartctl is not installed (package smartmontools)", ErrNoSMART, node)
	}
	ctx, cancel := context.WithTimeout(ctx, smartLimit)
	defer cancel()
	// Bits of the exit status tell of old errors in logs; what could be read is in the output all the same.
	out, err := exec.CommandContext(ctx, program, "--json", "--all", node).Output()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		return nil, fmt.Errorf("ask %s: %w", node, err)
	}
	return parseHealth(node, out)
}

func parseHealth(node string, out []byte) (Health, error) {
	var said struct {
		Support     *struct{ Available bool }  `json:"smart_support"`
		Temperature *struct{ Current float64 } `json:"temperature"`
		PowerOn     *struct{ Hours float64 }   `json:"power_on_time"`
		Status      *struct{ Passed bool }     `json:"smart_status"`
		NVMe        *struct {
			CriticalWarning float64  `json:"critical_warning"`
			PercentageUsed  *float64 `json:"percentage_used"`
			AvailableSpare  *float64 `json:"available_spare"`
			MediaErrors     *float64 `json:"media_errors"`
			UnitsWritten    *float64 `json:"data_units_written"`
			WarningMinutes  *float64 `json:"warning_temp_time"`
			CriticalMinutes *float64 `json:"critical_comp_time"`
		} `json:"nvme_smart_health_information_log"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return nil, fmt.Errorf("read what smartctl says of %s: %w", node, err)
	}
	h := Health{}
	if said.Temperature != nil {
		h["temperature_celsius"] = &said.Temperature.Current
	}
	if said.PowerOn != nil {
		seconds := said.PowerOn.Hours * 3600
		h["power_on_seconds"] = &seconds
	}
	if said.Status != nil {
		passed := map[bool]float64{true: 1, false: 0}[said.Status.Passed]
		h["self_assessment_passed_total"] = &passed
	}
	if n := said.NVMe; n != nil {
		h["critical_warning_bits"], h["media_errors_total"] = &n.CriticalWarning, n.MediaErrors
		h["endurance_used_ratio"], h["spare_available_ratio"] = scaled(n.PercentageUsed, 0.01), scaled(n.AvailableSpare, 0.01)
		h["written_bytes"] = scaled(n.UnitsWritten, 512_000) // thousands of 512 byte blocks
		h["warning_temperature_seconds"], h["critical_temperature_seconds"] = scaled(n.WarningMinutes, 60), scaled(n.CriticalMinutes, 60)
	}
	if len(h) == 0 {
		return nil, fmt.Errorf("%w of %s: the drive says nothing of its condition", ErrNoSMART, node)
	}
	return h, nil
}

func scaled(v *float64, by float64) *float64 {
	if v == nil {
		return nil
	}
	scaled := *v * by
	return &scaled
}

// nvmeTemperatureBit of the critical warnings says that the drive is too hot (NVMe base specification, SMART log).
const nvmeTemperatureBit = 1 << 1

// hotCelsius is where drives without a warning of their own begin to slow down, by their data sheets.
const hotCelsius = 70

// Throttled tells whether a drive was, or had to be, slowed down by heat between two looks at it, and how that shows.
func Throttled(before, after Health) (how string, yes bool) {
	for _, name := range []string{"critical_temperature_seconds", "warning_temperature_seconds"} {
		if b, a := before[name], after[name]; b != nil && a != nil && *a > *b {
			return fmt.Sprintf("%s went from %.0f to %.0f", name, *b, *a), true
		}
	}
	if w := after["critical_warning_bits"]; w != nil && int(*w)&nvmeTemperatureBit != 0 {
		return "the drive warns of its temperature", true
	}
	if c := after["temperature_celsius"]; c != nil && *c >= hotCelsius {
		return fmt.Sprintf("%.0f °C at the end", *c), true
	}
	return "", false
}
