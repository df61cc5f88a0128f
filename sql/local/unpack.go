package local

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xi2/xz"
)

// unpackedLimit bounds what an archive may grow to. PostgreSQL 17 takes 60 MB.
const unpackedLimit = 1 << 30

// unpack makes the folder dir and unpacks PostgreSQL's programs into it. The
// archive is a zip with one tar in it, compressed by xz. An archive that would
// write outside of dir, or has a link that leads out of it, is refused.
func unpack(archive []byte, dir string) error {
	entries, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return fmt.Errorf("unpack PostgreSQL: %w", err)
	}
	at := slices.IndexFunc(entries.File, func(f *zip.File) bool {
		return strings.HasSuffix(f.Name, ".txz") && f.Mode().IsRegular()
	})
	if at < 0 {
		return errors.New("unpack PostgreSQL: there are no programs in the archive")
	}
	packed, err := entries.File[at].Open()
	if err != nil {
		return fmt.Errorf("unpack PostgreSQL: %w", err)
	}
	defer func() { _ = packed.Close() }()
	plain, err := xz.NewReader(packed, 0)
	if err != nil {
		return fmt.Errorf("unpack PostgreSQL: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	if err := untar(tar.NewReader(io.LimitReader(plain, unpackedLimit)), root); err != nil {
		return fmt.Errorf("unpack PostgreSQL: %w", err)
	}
	return nil
}

// untar writes the entries below root, then looks where the links lead: a link
// can be judged only when everything that it leads through is there.
func untar(entries *tar.Reader, root *os.Root) error {
	var links []string
	for {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		name := path.Clean(header.Name)
		if !filepath.IsLocal(name) || slices.Contains(strings.Split(header.Name, "/"), "..") {
			return fmt.Errorf("the archive is not sound: %q is outside of its folder", header.Name)
		}
		if header.Typeflag == tar.TypeSymlink {
			links = append(links, name)
		}
		if err := writeEntry(root, name, header, entries); err != nil {
			return fmt.Errorf("the archive is not sound: %q: %w", header.Name, err)
		}
	}
	for _, name := range links {
		// A link whose target is missing is harmless. One that leads out is an error of its own.
		if _, err := root.Stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the archive is not sound: the link %q leads out of its folder: %w", name, err)
		}
	}
	return nil
}

func writeEntry(root *os.Root, name string, header *tar.Header, content io.Reader) error {
	if header.Typeflag == tar.TypeDir {
		return root.MkdirAll(name, 0o755)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeReg:
		mode := fs.FileMode(0o644)
		if header.Mode&0o100 != 0 {
			mode = 0o755
		}
		file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Chmod(mode), file.Close())
	case tar.TypeSymlink:
		if path.IsAbs(header.Linkname) {
			return fmt.Errorf("a link to %q leads out of its folder", header.Linkname)
		}
		return root.Symlink(header.Linkname, name)
	case tar.TypeLink:
		return root.Link(path.Clean(header.Linkname), name)
	}
	return fmt.Errorf("an entry of type %q is neither a file, a folder nor a link", header.Typeflag)
}
