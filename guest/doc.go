// Package guest owns the host↔guest protocol, its only copy: Job (what the guest is told), Event (what it says back) and their codec.
package guest
