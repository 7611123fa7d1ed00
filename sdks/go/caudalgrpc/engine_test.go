package caudalgrpc

import (
	"encoding/json"
	"fmt"
	"net"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	caudal "caudal.dev/client"
	"caudal.dev/client/internal/wire"
)

// server notes what it is asked. The leases of jobs whose number is odd are lost.
type server struct {
	mutex  sync.Mutex
	beats  []int
	thrown *wire.ThrowErrorRequest
	tokens []string
	keys   []string
}

func (s *server) handle(_ any, stream grpc.ServerStream) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	method, _ := grpc.MethodFromServerStream(stream)
	given, _ := metadata.FromIncomingContext(stream.Context())
	s.tokens, s.keys = given.Get("authorization"), given.Get("x-api-key")
	var answer proto.Message
	switch strings.TrimPrefix(method, engineService) {
	case "Heartbeats":
		asked, told := new(wire.HeartbeatsRequest), new(wire.HeartbeatsResponse)
		if err := stream.RecvMsg(asked); err != nil {
			return err
		}
		s.beats = append(s.beats, len(asked.GetJobs()))
		for _, one := range asked.GetJobs() {
			standing := caudal.Held
			if number, err := strconv.Atoi(one.GetJobId()); err != nil || number%2 == 1 {
				standing = caudal.Lost
			}
			told.Jobs = append(told.Jobs, &wire.HeartbeatResponse{Status: string(standing)})
		}
		answer = told
	case "ThrowError":
		s.thrown, answer = new(wire.ThrowErrorRequest), new(wire.ThrowErrorResponse)
		if err := stream.RecvMsg(s.thrown); err != nil {
			return err
		}
	default:
		answer = new(wire.FailJobResponse)
	}
	return stream.SendMsg(answer)
}

func connected(t *testing.T, options ...grpc.DialOption) (caudal.EngineClient, *server) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	noted := new(server)
	serving := grpc.NewServer(grpc.UnknownServiceHandler(noted.handle))
	go func() { _ = serving.Serve(listener) }()
	t.Cleanup(serving.Stop)
	made, err := New("grpc://"+listener.Addr().String(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Close() })
	return made, noted
}

func same[T any](t *testing.T, seen, expected T) {
	t.Helper()
	if !reflect.DeepEqual(seen, expected) {
		t.Fatalf("%v instead of %v", seen, expected)
	}
}

func TestWhichFailuresMayWorkLater(t *testing.T) {
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		isLater := false
		switch code {
		case codes.Canceled, codes.Unknown, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Internal, codes.Unavailable, codes.DataLoss:
			isLater = true
		default:
		}
		if caudal.IsUnavailable(failure(status.Error(code, "why"))) != isLater {
			t.Error(code)
		}
	}
	same(t, failure(status.Error(codes.OutOfRange, "large")).Error(), "large (OutOfRange, 413)")
	for code, expected := range map[codes.Code]int{
		codes.InvalidArgument: 400, codes.Unauthenticated: 401, codes.PermissionDenied: 403, codes.NotFound: 404,
		codes.FailedPrecondition: 409, codes.Aborted: 409, codes.AlreadyExists: 409, codes.Unimplemented: 501,
	} {
		same(t, failure(status.Error(code, "why")).Error(), fmt.Sprintf("why (%s, %d)", code, expected))
	}
}

func TestWhatTheLibraryDoesNotSendIsRefused(t *testing.T) {
	made, _ := connected(t, grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(100)))
	for _, message := range []string{strings.Repeat("x", 1000), "\xff"} {
		err := made.Fail(t.Context(), "w", &caudal.Job{ID: "1"}, caudal.Failure{Message: message})
		if err == nil || caudal.IsUnavailable(err) {
			t.Fatal(err)
		}
	}
	if err := made.Fail(t.Context(), "w", &caudal.Job{ID: "1"}, caudal.Failure{Message: "short"}); err != nil {
		t.Fatal(err)
	}
	if err := made.Complete(t.Context(), "w", &caudal.Job{ID: "1"}, json.RawMessage(`{"a": 1e999}`)); err == nil || caudal.IsUnavailable(err) {
		t.Fatal(err)
	}
}

func TestNoIntegerArrivesAsAnother(t *testing.T) {
	for _, text := range []string{`{"a": 9007199254740993}`, `{"a": [{"b": -9223372036854775807}]}`, `{"a": 1` + strings.Repeat("0", 400) + `}`} {
		if _, err := structOf(json.RawMessage(text)); err == nil || caudal.IsUnavailable(err) || !strings.Contains(err.Error(), "is no double") {
			t.Errorf("%s: %v", text, err)
		}
	}
	sent, err := structOf(json.RawMessage(`{"large": 9007199254740992, "small": 9007199254740991, "list": [1e300, {"half": 0.5}], "text": "9007199254740993"}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := textOf(sent)
	if want := `{"large":9.007199254740992e+15,"list":[1e+300,{"half":0.5}],"small":9007199254740991,"text":"9007199254740993"}`; err != nil || string(text) != want {
		t.Errorf("%s %v", text, err)
	}
	var exact struct{ Small int64 }
	var other struct{ Large int64 }
	if json.Unmarshal(text, &exact) != nil || json.Unmarshal(text, &other) == nil {
		t.Errorf("%+v %+v", exact, other)
	}
}

func TestSignsOfLifeGoTogetherAndEachJobIsJudgedByItself(t *testing.T) {
	made, noted := connected(t)
	beats := make([]caudal.Beat, 1500)
	for i := range beats {
		beats[i].Job = &caudal.Job{ID: strconv.Itoa(i)}
	}
	standings, err := made.Heartbeat(t.Context(), "w", time.Minute, beats)
	if err != nil {
		t.Fatal(err)
	}
	same(t, noted.beats, []int{1000, 500})
	same(t, len(standings), 1500)
	for i, standing := range standings {
		same(t, standing == caudal.Held, i%2 == 0)
	}
}

func TestAnErrorIsThrownForALease(t *testing.T) {
	made, noted := connected(t)
	if err := made.ThrowError(t.Context(), "w", &caudal.Job{ID: "7", Lease: 3}, "E", "no", json.RawMessage(`{"a": 1}`)); err != nil {
		t.Fatal(err)
	}
	seen := noted.thrown
	same(t, []any{seen.GetJobId(), seen.GetWorkerId(), seen.GetLease(), seen.GetErrorCode()}, []any{"7", "w", uint32(3), "E"})
	same(t, seen.GetVariables().AsMap(), map[string]any{"a": 1.0})
}

func TestATokenIsSentAndNotShown(t *testing.T) {
	made, noted := connected(t, WithToken("secret"), WithHeader("X-Api-Key", "secret"))
	if err := made.Release(t.Context(), "w", &caudal.Job{ID: "1"}, 0); err != nil {
		t.Fatal(err)
	}
	same(t, noted.tokens, []string{"Bearer secret"})
	same(t, noted.keys, []string{"secret"})
	token := "secret\n"
	bad, _ := connected(t, WithToken(token))
	err := bad.Release(t.Context(), "w", &caudal.Job{ID: "1"}, 0)
	if err == nil || caudal.IsUnavailable(err) {
		t.Fatal(err)
	}
	shown := fmt.Sprintf("%v %+v %#v %v %+v %#v %v", made, made, made, WithToken(token), header{"a", &token}, header{"a", &token}, err)
	same(t, strings.Contains(shown, "secret"), false)
}

func TestAnAddressThatCannotBeUsedIsRefused(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:9090", "localhost:9090", "http://localhost", "grpc://", "grpc://u:secret@a:1", "grpc://a:99999", "grpc://a:0", "grpc://a:", "grpc://a/b"} {
		_, err := New(address)
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Error(address, err)
		}
	}
}
