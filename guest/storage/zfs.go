package storage

// Names of the pool and the dataset of the filesystem under test.
const (
	ZFSPool    = "platter"
	ZFSDataset = ZFSPool + "/data"
)
