// Package caudaltest is for tests: handlers with fake jobs, and a real server in the background.
package caudaltest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	caudal "caudal.dev/client"
)

const readyMax = 30 * time.Second

// Run runs the handler of a job's type as a runner would, without a server: what became of the job, and what it said of its progress.
func Run(ctx context.Context, registry *caudal.Registry, job caudal.Job) (caudal.Outcome, []caudal.Progress) {
	var said []caudal.Progress
	if job.ID == "" {
		job.ID = "1"
	}
	if job.Variables == nil {
		job.Variables = json.RawMessage("{}")
	}
	outcome := registry.Run(caudal.NewJobContext(ctx, &job, func(progress caudal.Progress) { said = append(said, progress) }))
	return outcome, said
}

// Options say how a server is started. The zero value will do.
type Options struct {
	// Binary is the program; if empty $CAUDAL_BINARY, then caudal on the path.
	Binary string
	// Store is memory: if empty. One on sqlite:FOLDER survives Kill and Start.
	Store     string
	Arguments []string
}

// Server is a real server on free ports of loopback. Its clock can be moved.
type Server struct {
	// REST and GRPC are its addresses; at Metrics it tells its metrics.
	REST, GRPC, Metrics string

	folder  string
	command []string
	process *exec.Cmd
}

// Start starts a server and waits until it is ready. Whoever starts it closes it.
func Start(options Options) (*Server, error) {
	folder, err := os.MkdirTemp("", "caudal-")
	if err != nil {
		return nil, err
	}
	places, err := freePlaces()
	if err != nil {
		return nil, err
	}
	binary := first(options.Binary, os.Getenv("CAUDAL_BINARY"), "caudal")
	command := []string{
		binary, "serve", "--test-clock", "--store", first(options.Store, "memory:"),
		"--rest", places[0], "--grpc", places[1], "--metrics", places[2],
	}
	server := &Server{
		REST: "http://" + places[0], GRPC: "grpc://" + places[1], Metrics: "http://" + places[2], folder: folder,
		command: append(command, options.Arguments...),
	}
	if err := server.Start(); err != nil {
		// Nobody gets it, so nobody could end it.
		_ = server.Kill()
		_ = os.RemoveAll(folder)
		return nil, err
	}
	return server, nil
}

// Client is a client of it.
func (s *Server) Client(options ...caudal.Option) *caudal.Client {
	return caudal.NewClient(s.REST, options...)
}

// Start starts it again after Kill, on the same ports and store.
func (s *Server) Start() error {
	log, err := os.OpenFile(filepath.Join(s.folder, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	s.process = exec.Command(s.command[0], s.command[1:]...)
	s.process.Dir, s.process.Stdout, s.process.Stderr = s.folder, log, log
	if err := s.process.Start(); err != nil {
		return fmt.Errorf("caudaltest: the server did not start: %w", err)
	}
	for deadline := time.Now().Add(readyMax); !s.isReady(); time.Sleep(10 * time.Millisecond) {
		if deadline.Before(time.Now()) {
			said, _ := os.ReadFile(log.Name())
			return fmt.Errorf("caudaltest: the server did not start:\n%s", said)
		}
	}
	return nil
}

// Kill ends it without a warning.
func (s *Server) Kill() error { return s.end(os.Kill) }

// Close stops it for good.
func (s *Server) Close() error {
	if err := s.end(syscall.SIGTERM); err != nil {
		return err
	}
	return os.RemoveAll(s.folder)
}

// Advance moves its clock on: what falls due meanwhile happens.
func (s *Server) Advance(by time.Duration) error {
	return s.clock(http.MethodPost, "/v1/clock/advance", map[string]any{"duration": fmt.Sprintf("PT%.3fS", by.Seconds())})
}

// Pin lets its clock stand still at a time.
func (s *Server) Pin(at time.Time) error {
	return s.clock(http.MethodPut, "/v2/clock", map[string]any{"timestamp": at.UnixMilli()})
}

func (s *Server) clock(method, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(context.Background(), method, s.REST+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusNoContent {
		return fmt.Errorf("caudaltest: the clock was not moved: %s", answer.Status)
	}
	return answer.Body.Close()
}

func (s *Server) end(signal os.Signal) error {
	if s.process == nil {
		return nil
	}
	if err := s.process.Process.Signal(signal); err != nil {
		return err
	}
	// How it ended does not matter.
	_ = s.process.Wait()
	s.process = nil
	return nil
}

func (s *Server) isReady() bool {
	answer, err := http.Get(s.Metrics + "/health/ready")
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// Ports below those that the system gives to outgoing connections: one of these could be taken at any moment.
const firstPort, ports = 10_000, 2_000

// lastPlace is counted on, so that servers that start at once get different ports.
var lastPlace atomic.Uint32

func init() { lastPlace.Store(rand.Uint32N(ports)) }

// freePlaces are addresses on loopback that nobody listens on.
func freePlaces() (places [3]string, err error) {
	found := 0
	for range ports {
		place := fmt.Sprintf("127.0.0.1:%d", firstPort+lastPlace.Add(1)%ports)
		listener, err := net.Listen("tcp", place)
		if err != nil {
			continue
		}
		_ = listener.Close()
		places[found] = place
		found++
		if found == len(places) {
			return places, nil
		}
	}
	return places, fmt.Errorf("no free ports from %d to %d", firstPort, firstPort+ports-1)
}

func first(given ...string) string {
	for _, one := range given {
		if one != "" {
			return one
		}
	}
	return ""
}
