package provenance

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// notSPDXID is what an SPDX identifier cannot hold.
var notSPDXID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// SBOM is the list of an image's packages as an SPDX 2.3 document.
func SBOM(image Image) ([]byte, error) {
	type object = map[string]any
	const unknown = "NOASSERTION"
	self := "SPDXRef-image-" + notSPDXID.ReplaceAllString(image.Name, "-")
	var checksums []object
	for _, output := range image.Outputs {
		if strings.HasSuffix(output.Name, ".squashfs") { // what the packages lie in
			checksums = append(checksums, object{"algorithm": "SHA256", "checksumValue": strings.TrimPrefix(output.SHA256, "sha256:")})
		}
	}
	packages := []object{{
		"SPDXID": self, "name": image.Name, "versionInfo": image.RecipeDigest, "downloadLocation": unknown, "filesAnalyzed": false,
		"primaryPackagePurpose": "OPERATING-SYSTEM", "checksums": checksums, "supplier": unknown,
	}}
	relationships := []object{{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": self}}
	if d := image.Distribution; d != nil {
		packages = append(packages, object{"SPDXID": "SPDXRef-distribution", "name": d.Name, "downloadLocation": unknown, "filesAnalyzed": false,
			"checksums": []object{{"algorithm": "SHA256", "checksumValue": d.SHA256}}})
		relationships = append(relationships, object{"spdxElementId": self, "relationshipType": "CONTAINS", "relatedSpdxElement": "SPDXRef-distribution"})
	}
	for i, p := range image.Packages {
		id := fmt.Sprintf("SPDXRef-package-%d-%s", i+1, notSPDXID.ReplaceAllString(p.Name, "-"))
		entry := object{
			"SPDXID": id, "name": p.Name, "versionInfo": p.Version, "downloadLocation": unknown, "filesAnalyzed": false,
			"externalRefs": []object{{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": packageURL(p)}},
		}
		if p.SHA256 != "" {
			entry["checksums"] = []object{{"algorithm": "SHA256", "checksumValue": strings.TrimPrefix(p.SHA256, "sha256:")}}
		}
		packages = append(packages, entry)
		relationships = append(relationships, object{"spdxElementId": self, "relationshipType": "CONTAINS", "relatedSpdxElement": id})
	}
	return document(object{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": image.Name,
		"documentNamespace": "urn:x-platter:sbom:" + url.PathEscape(image.Name) + ":" + strings.TrimPrefix(image.RecipeDigest, "sha256:"),
		"creationInfo":      object{"created": stamp(image.BuiltAt), "creators": []string{"Tool: platter"}, "comment": image.Mirror},
		"packages":          packages,
		"relationships":     relationships,
	})
}

// packageURL is the package's purl: pkg:deb/debian/name@version?arch=….
func packageURL(p Package) string {
	u := "pkg:deb/debian/" + url.PathEscape(p.Name) + "@" + url.QueryEscape(p.Version)
	if p.Architecture != "" {
		u += "?arch=" + url.QueryEscape(p.Architecture)
	}
	return u
}
