// Where prints the folder of the PostgreSQL programs that the private server and
// the tests use.
package main

import (
	"context"
	"fmt"

	"github.com/leasetop/leasetop/sql/local"
)

func main() {
	dir, err := local.Find(context.Background())
	if err != nil {
		fmt.Println("not installed, so it is downloaded:", err)
		return
	}
	fmt.Println(dir)
}
