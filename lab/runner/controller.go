package runner

import (
	"context"
	"fmt"
	"time"

	"platter/lab/blockdev"
)

// passthroughDriver is what a PCI function must be bound to so that a machine can have it.
const passthroughDriver = "vfio-pci"

// driverWait is how long the kernel may take to bind a driver.
const driverWait = 20 * time.Second

// controller is a PCI function on its way to a machine and back.
type controller struct {
	devices NodeDevices
	host    blockdev.Host
	address string
	driver  string // before we took it
	taken   bool
}

// take gives the function to vfio-pci. When that does not come about, giveBack still restores what was.
func (c *controller) take(ctx context.Context) error {
	c.driver = c.host.Driver(c.address)
	if c.driver == passthroughDriver {
		return fmt.Errorf("take %s: it is in the hands of %s already; somebody else may have it", c.address, passthroughDriver)
	}
	c.taken = true // also when the call fails half-way
	if err := c.devices.Detach(ctx, c.address); err != nil {
		return err
	}
	return c.await(ctx, passthroughDriver)
}

// giveBack gives the function back to the driver it had.
func (c *controller) giveBack(ctx context.Context) error {
	if !c.taken || c.host.Driver(c.address) == c.driver {
		return nil
	}
	if err := c.devices.Reattach(ctx, c.address); err != nil {
		return err
	}
	return c.await(ctx, c.driver)
}

// await waits until the function is bound to a driver, or to none for "".
func (c *controller) await(ctx context.Context, driver string) error {
	ctx, cancel := context.WithTimeout(ctx, driverWait)
	defer cancel()
	for c.host.Driver(c.address) != driver {
		select {
		case <-ctx.Done():
			return fmt.Errorf("device %s is bound to driver %q, not to %q; bind it with: echo %s > /sys/bus/pci/drivers/%s/bind",
				c.address, c.host.Driver(c.address), driver, c.address, driver)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
