# platter: `make demo` shows it, `make test` proves it. Both set up what they need.
SHELL := /bin/bash
export CGO_ENABLED := 0
export PATH := $(PATH):/usr/local/go/bin:/usr/lib/go/bin:/usr/sbin:/sbin
export GOFLAGS := -buildvcs=false
export GOTOOLCHAIN ?= auto

VERSION := $(shell git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X platter/guest.Version=$(VERSION)
# Packages whose tests also have a part on real machines, servers or devices.
VM_PACKAGES = $(shell grep -rl --include='*_test.go' 'flag.Bool."vm"' cmd lab images guest results | xargs -r -n1 dirname | sort -u | sed 's|^|./|')
# These look at rates and orders in time, or at what dead processes left behind, so nothing else runs beside them.
ALONE = ./guest/% ./lab/hypervisor

.PHONY: help setup build demo test unit vm check test-stacks test-nested bench-boot bench-report bench-generator clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

setup:
	@.ci/setup demo

build: ## bin/platter and the guest binaries beside it
	@mkdir -p bin
	GOARCH=amd64 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/platter-guest-amd64 ./cmd/platter-guest
	GOARCH=arm64 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/platter-guest-arm64 ./cmd/platter-guest
	@ln -sf platter-guest-$$(go env GOARCH) bin/platter-guest
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/platter ./cmd/platter

demo: setup ## ext4 against xfs on real machines, from nothing to a report
	@$(MAKE) --no-print-directory build
	bin/platter run ext4-vs-xfs@smoke

test: ## every test, those on real machines included
	@.ci/setup test
	@$(MAKE) --no-print-directory build check unit vm

check:
	@unformatted=$$(gofmt -l cmd lab images guest results); [ -z "$$unformatted" ] || { echo "gofmt: $$unformatted"; exit 1; }
	go vet ./...

unit: ## tests that need neither root nor libvirt
	go test ./...

vm: build ## tests on real machines, servers and devices
	bin/platter images build root mariadb-11.8 mariadb-10.11 mysql-9.7 zfs
	go test -count=1 -p 1 -timeout 80m $(filter $(ALONE),$(VM_PACKAGES)) -vm
	go test -count=1 -p 2 -timeout 80m $(filter-out $(ALONE),$(VM_PACKAGES)) -vm

test-stacks: build ## refuse md, LVM, device mapper and LUKS inside a machine, where every driver is there
	go test -count=1 -timeout 20m -run 'TestPassthrough$$' -v ./lab/runner -vm -stacks

test-nested: build ## an NVMe drive by PCI and a SCSI disk as LUN, handed over in a machine with an emulated IOMMU; takes long
	go test -count=1 -timeout 90m -run 'TestNested$$' -v ./lab/runner -vm -nested

bench-boot: build ## define to SSH login, beside the stock way
	go test -count=1 -timeout 60m -run '^$$' -bench Boot ./lab/runner -vm

bench-report: ## reports of 5,000 trials in every format, within stated limits
	go test -run NONE -bench Report -benchtime 1x ./results/report

bench-generator: ## our workloads beside sysbench and mariadb-slap on one server: counts, throughput and processor ratios
	@.ci/setup test
	go test -count=1 -timeout 60m -run TestGenerator -v ./guest/workload -vm -generator

clean: ## what this project built in its own folder
	rm -rf bin
