package local

// fetchVersion is the PostgreSQL that is downloaded where none is installed.
const fetchVersion = "17.5.0"

// pins are the SHA-256 digests of the archives of fetchVersion, by platform. An
// archive that is not listed is not downloaded. A digest that the server of the
// archives publishes is no proof of anything: whoever replaces an archive there
// replaces its digest as well.
//
// The musl builds (Alpine) are missing: nobody we could compare with publishes
// their digests.
var pins = map[string]string{
	"linux-amd64":    "646f3269075d1a23904127374e3cdbcef96beb32979fedee25d835877400fcbe",
	"linux-arm64v8":  "e02f27ff50ff2d90b6541d54f3f108505aacd84ea53c2890e976a684bfea2752",
	"darwin-amd64":   "fb70f783928e77c3d6ef5ca8ed644f1ac502f740fcfc032a375c8347820f2bdd",
	"darwin-arm64v8": "e9d3398e10c2ec926395498b03e75ad1a24eeaed82895e756a7e173b202cf6de",
}
