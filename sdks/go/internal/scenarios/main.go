// Command scenarios plays the scenarios of sdks/scenarios with this module and a real server: it prints `ok NAME` or `FAIL NAME: why`.
package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

const atOnce = 4

type scenario struct {
	name string
	play func()
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "worker" {
		workerProcess(os.Args[2], os.Args[3])
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "bench" {
		bench(os.Args[2], must(strconv.Atoi(os.Args[3])))
		return
	}
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	var mutex sync.Mutex
	bad := false
	for _, one := range append(everyday, faults...) {
		if !suits(one.name) {
			continue
		}
		slots <- struct{}{}
		all.Add(1)
		go func() {
			defer all.Done()
			problem := attempt(one.play)
			mutex.Lock()
			defer mutex.Unlock()
			if problem == "" {
				fmt.Println("ok " + one.name)
			} else {
				bad = true
				fmt.Printf("FAIL %s: %.300s\n", one.name, strings.ReplaceAll(problem, "\n", " "))
			}
			<-slots
		}()
	}
	all.Wait()
	if bad {
		os.Exit(1)
	}
}

func attempt(play func()) (problem string) {
	defer func() {
		if panicked := recover(); panicked != nil {
			debug.PrintStack()
			problem = fmt.Sprint(panicked)
		}
	}()
	play()
	return ""
}
