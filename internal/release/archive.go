package release

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"io"
	"io/fs"
	"slices"
	"time"
)

// file is one file of an archive.
type file struct {
	name string // with slashes, below the archive's folder
	data []byte
	mode fs.FileMode // 0 for 0644
}

// pack writes a tar archive, compressed, of files below one folder. It holds no
// owner and one time, and the files are in the order of their names.
func pack(out io.Writer, folder string, files []file, date time.Time) error {
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	zip, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zip)
	for _, f := range files {
		mode := cmp.Or(f.mode, 0o644)
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Size: int64(len(f.data)), Mode: int64(mode),
			ModTime: date.Truncate(time.Second), Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zip.Close()
}
