package caudal

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const executionsPerRequestMax = 1000

// Status is where an instance is in its life.
type Status string

// All statuses.
const (
	StatusActive    Status = "ACTIVE"
	StatusWaiting   Status = "WAITING"
	StatusCompleted Status = "COMPLETED"
	StatusFailed    Status = "FAILED"
	StatusCancelled Status = "CANCELLED"
)

// IsOver tells whether nothing happens any more unless somebody asks for it. It holds for executions too: they wait or run before.
func (s Status) IsOver() bool {
	return s == StatusCompleted || s == StatusFailed || s == StatusCancelled
}

// Page is some of what was found, and how many there are in all.
type Page[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

// Deployed is a version of a definition.
type Deployed struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
}

// Started is an instance that was started.
type Started struct {
	ID           string `json:"processInstanceKey"`
	DefinitionID string `json:"processDefinitionId"`
	Version      int    `json:"processDefinitionVersion"`
}

// Instance is one run of a workflow or process.
type Instance struct {
	ID                 string          `json:"id"`
	DefinitionID       string          `json:"definitionId"`
	DefinitionVersion  int             `json:"definitionVersion"`
	Status             Status          `json:"status"`
	CurrentStepIDs     []string        `json:"currentStepIds"`
	Variables          json.RawMessage `json:"variables"`
	StartedAt          time.Time       `json:"startedAt"`
	CompletedAt        *time.Time      `json:"completedAt"`
	FailureReason      string          `json:"failureReason"`
	BusinessKey        string          `json:"businessKey"`
	PreviousInstanceID string          `json:"previousInstanceId"`
}

// StepExecution is one attempt at a step.
type StepExecution struct {
	ID            string `json:"id"`
	StepID        string `json:"stepId"`
	StepType      string `json:"stepType"`
	AttemptNumber int    `json:"attemptNumber"`
	Status        string `json:"status"`
	FailureReason string `json:"failureReason"`
}

// Execution is a job that belongs to no process.
type Execution struct {
	ID       string          `json:"id"`
	Action   string          `json:"action"`
	State    Status          `json:"state"`
	Input    json.RawMessage `json:"input"`
	Result   json.RawMessage `json:"result"`
	Error    string          `json:"error"`
	Attempts int             `json:"attempts"`
	Retries  int             `json:"retries"`
}

// Client deploys, starts, tells and asks: everything but working on jobs. It may be shared.
//
// Requests are repeated while the server is away or busy. What changes something has an idempotency key, the same whenever it is repeated, so it happens once.
type Client struct{ http *transport }

// NewClient makes a client of the server at an address such as http://127.0.0.1:8080, which it is if empty. One that cannot be used is refused by the first call.
func NewClient(address string, options ...Option) *Client {
	return &Client{newTransport(address, options)}
}

// Upload uploads a JSON workflow: anything that is written as one.
func (c *Client) Upload(ctx context.Context, document any) (Deployed, error) {
	var deployed Deployed
	err := c.command(ctx, request{path: "/v1/definitions", body: document}, &deployed)
	return deployed, err
}

// Deploy deploys files: JSON workflows, BPMN, DMN and forms.
func (c *Client) Deploy(ctx context.Context, files ...string) ([]Deployed, error) {
	var all []Deployed
	var body bytes.Buffer
	parts, others := multipart.NewWriter(&body), 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return all, err
		}
		if filepath.Ext(file) == ".json" {
			deployed, err := c.Upload(ctx, json.RawMessage(content))
			if err != nil {
				return all, err
			}
			all = append(all, deployed)
			continue
		}
		part, err := parts.CreateFormFile("resources", filepath.Base(file))
		if err == nil {
			_, err = part.Write(content)
		}
		if err != nil {
			return all, err
		}
		others++
	}
	if err := parts.Close(); err != nil || others == 0 {
		return all, err
	}
	var answer struct {
		Deployments []struct{ ProcessDefinition *Started }
	}
	// A file that is deployed a second time is the same version, with or without a key.
	r := request{path: "/v2/deployments", content: body.Bytes(), contentType: parts.FormDataContentType()}
	err := c.command(ctx, r, &answer)
	for _, one := range answer.Deployments {
		if one.ProcessDefinition != nil {
			all = append(all, Deployed{one.ProcessDefinition.DefinitionID, one.ProcessDefinition.Version})
		}
	}
	return all, err
}

// Definitions finds the latest versions of JSON workflows by a word; by none it finds all.
func (c *Client) Definitions(ctx context.Context, keyword string, page, pageSize int) (Page[Deployed], error) {
	query := url.Values{"page": {strconv.Itoa(page)}, "pageSize": {strconv.Itoa(pageSize)}}
	if keyword != "" {
		query.Set("keyword", keyword)
	}
	return get[Page[Deployed]](ctx, c, "/v1/definitions?"+query.Encode())
}

// Definition is a JSON workflow as it was uploaded; version 0 is the latest.
func (c *Client) Definition(ctx context.Context, id string, version int) (json.RawMessage, error) {
	path := "/v1/definitions/" + url.PathEscape(id)
	if version != 0 {
		path += "/versions/" + strconv.Itoa(version)
	}
	return get[json.RawMessage](ctx, c, path)
}

// Start says what to start.
type Start struct {
	DefinitionID string
	// Version 0 is the latest.
	Version int
	// Variables are anything that is written as a JSON object; nil for none.
	Variables   any
	BusinessKey string
	// IdempotencyKey that was used before makes this the same start again. Without one it has a key of its own.
	IdempotencyKey string
}

// Start starts an instance.
func (c *Client) Start(ctx context.Context, start Start) (Started, error) {
	var started Started
	variables, err := object(start.Variables)
	if err != nil {
		return started, err
	}
	body := map[string]any{"processDefinitionId": start.DefinitionID, "variables": variables}
	if start.Version != 0 {
		body["processDefinitionVersion"] = start.Version
	}
	if start.BusinessKey != "" {
		body["businessId"] = start.BusinessKey
	}
	err = c.command(ctx, request{path: "/v2/process-instances", body: body, idempotencyKey: start.IdempotencyKey}, &started)
	return started, err
}

// Wait gives the instance when it is over: completed, failed or cancelled; at the latest when the context ends.
func (c *Client) Wait(ctx context.Context, instanceID string) (*Instance, error) {
	look := func() (*Instance, error) { return c.Instance(ctx, instanceID) }
	return until(ctx, look, func(instance *Instance) bool { return instance.Status.IsOver() })
}

// StartAndWait starts an instance and waits until it is over, at the latest when the context ends.
func (c *Client) StartAndWait(ctx context.Context, start Start) (*Instance, error) {
	started, err := c.Start(ctx, start)
	if err != nil {
		return nil, err
	}
	return c.Wait(ctx, started.ID)
}

// Instance is an instance as it is now.
func (c *Client) Instance(ctx context.Context, id string) (*Instance, error) {
	return get[*Instance](ctx, c, "/v1/instances/"+url.PathEscape(id))
}

// InstanceFilter says which instances are looked for. What is empty does not matter.
type InstanceFilter struct {
	DefinitionID, BusinessKey string
	Status                    Status
	Page                      int
	// PageSize is 20 if 0, and 200 at most.
	PageSize int
}

// Instances finds instances, the newest first.
func (c *Client) Instances(ctx context.Context, filter InstanceFilter) (Page[*Instance], error) {
	query := url.Values{"page": {strconv.Itoa(filter.Page)}, "pageSize": {strconv.Itoa(or(filter.PageSize, 20))}}
	for name, value := range map[string]string{
		"definitionId": filter.DefinitionID, "businessKey": filter.BusinessKey, "status": string(filter.Status),
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return get[Page[*Instance]](ctx, c, "/v1/instances?"+query.Encode())
}

// History has every attempt at every step, in the order in which they began.
func (c *Client) History(ctx context.Context, instanceID string) ([]StepExecution, error) {
	page, err := get[Page[StepExecution]](ctx, c, "/v1/instances/"+url.PathEscape(instanceID)+"/history")
	return page.Items, err
}

// Cancel cancels an instance.
func (c *Client) Cancel(ctx context.Context, instanceID string) (*Instance, error) {
	instance := new(Instance)
	return instance, c.command(ctx, request{path: "/v1/instances/" + url.PathEscape(instanceID) + "/cancel"}, instance)
}

// Retry lets a failed instance try its failed steps again.
func (c *Client) Retry(ctx context.Context, instanceID string) (*Instance, error) {
	instance := new(Instance)
	return instance, c.command(ctx, request{path: "/v1/instances/" + url.PathEscape(instanceID) + "/retry"}, instance)
}

// Step is a step of an instance that is told to go on.
type Step struct {
	InstanceID, StepID string
	// Buffer keeps it if the step is not reached yet.
	Buffer bool
}

func (s Step) path(kind, end string) string {
	path := "/v1/instances/" + url.PathEscape(s.InstanceID) + "/" + kind + "/" + url.PathEscape(s.StepID) + end
	if s.Buffer {
		path += "?buffer=true"
	}
	return path
}

// CompleteUserTask says that a person has done a task.
func (c *Client) CompleteUserTask(ctx context.Context, step Step, completedBy string, result any) error {
	variables, err := object(result)
	if err != nil {
		return err
	}
	body := map[string]any{"completedBy": completedBy, "result": variables}
	return c.command(ctx, request{path: step.path("user-tasks", "/complete"), body: body}, nil)
}

// Signal lets a WAIT step go on.
func (c *Client) Signal(ctx context.Context, step Step, variables any) error {
	body, err := object(variables)
	if err != nil {
		return err
	}
	return c.command(ctx, request{path: step.path("signals", ""), body: body}, nil)
}

// BroadcastSignal tells a BPMN signal to all that wait for it.
func (c *Client) BroadcastSignal(ctx context.Context, name string, variables any) error {
	given, err := object(variables)
	if err != nil {
		return err
	}
	body := map[string]any{"signalName": name, "variables": given}
	return c.command(ctx, request{path: "/v2/signals/broadcast", body: body}, nil)
}

// Message is published to whoever waits for it now or while it lives.
type Message struct {
	Name, CorrelationKey string
	Variables            any
	// TimeToLive is an hour if 0.
	TimeToLive time.Duration
	// ID keeps a message from being published twice while the first lives.
	ID             string
	IdempotencyKey string
}

// Publish publishes a message.
func (c *Client) Publish(ctx context.Context, message Message) error {
	variables, err := object(message.Variables)
	if err != nil {
		return err
	}
	body := map[string]any{
		"name": message.Name, "correlationKey": message.CorrelationKey, "variables": variables,
		"timeToLive": or(message.TimeToLive, time.Hour).Milliseconds(),
	}
	if message.ID != "" {
		body["messageId"] = message.ID
	}
	return c.command(ctx, request{path: "/v2/messages/publication", body: body, idempotencyKey: message.IdempotencyKey}, nil)
}

// Submit is an execution to be submitted.
type Submit struct {
	// Input is anything that is written as a JSON object; nil for none.
	Input any `json:"input,omitempty"`
	// Priority is 0 to 100, the higher first.
	Priority int `json:"priority,omitempty"`
	// Retries is how often it may be tried; 3 if 0.
	Retries int `json:"retries,omitempty"`
	// RunAt is when it may run at the earliest.
	RunAt *time.Time `json:"runAt,omitempty"`
	// UniqueKey keeps another execution of the action with the same key from waiting or running.
	UniqueKey string `json:"uniqueKey,omitempty"`
}

// Submit submits executions; their ids in the same order. Each thousand is taken as a whole or not at all. The idempotency key may be empty.
func (c *Client) Submit(ctx context.Context, action, idempotencyKey string, executions ...Submit) ([]string, error) {
	ids := make([]string, 0, len(executions))
	for at := 0; at < len(executions); at += executionsPerRequestMax {
		body := map[string]any{"executions": executions[at:min(at+executionsPerRequestMax, len(executions))]}
		key := idempotencyKey
		if key != "" {
			key += "-" + strconv.Itoa(at)
		}
		var answer struct{ Executions []struct{ ID string } }
		r := request{path: "/v1/actions/" + url.PathEscape(action) + "/executions/bulk", body: body, idempotencyKey: key}
		if err := c.command(ctx, r, &answer); err != nil {
			return ids, err
		}
		for _, one := range answer.Executions {
			ids = append(ids, one.ID)
		}
	}
	return ids, nil
}

// Execution is an execution as it is now.
func (c *Client) Execution(ctx context.Context, id string) (*Execution, error) {
	return get[*Execution](ctx, c, "/v1/executions/"+url.PathEscape(id))
}

// WaitExecution gives the execution when it is over, at the latest when the context ends.
func (c *Client) WaitExecution(ctx context.Context, id string) (*Execution, error) {
	look := func() (*Execution, error) { return c.Execution(ctx, id) }
	return until(ctx, look, func(execution *Execution) bool { return execution.State.IsOver() })
}

// CancelExecution cancels an execution that waits, runs or has failed.
func (c *Client) CancelExecution(ctx context.Context, id string) error {
	return c.command(ctx, request{path: "/v1/executions/" + url.PathEscape(id) + "/cancel"}, nil)
}

func get[T any](ctx context.Context, c *Client, path string) (T, error) {
	var result T
	err := c.repeat(ctx, request{method: http.MethodGet, path: path}, &result)
	return result, err
}

func (c *Client) repeat(ctx context.Context, r request, result any) error {
	return retry(ctx, c.http.patience, func() error { return c.http.call(ctx, r, result) })
}

// command changes something. It has a key, its caller's or its own, by which the server knows it when it is repeated.
func (c *Client) command(ctx context.Context, r request, result any) error {
	r.method, r.idempotencyKey = http.MethodPost, or(r.idempotencyKey, rand.Text())
	return c.repeat(ctx, r, result)
}

func until[T any](ctx context.Context, look func() (T, error), isOver func(T) bool) (T, error) {
	for wait := 10 * time.Millisecond; ; wait = min(wait*3/2, 500*time.Millisecond) {
		seen, err := look()
		if err != nil || isOver(seen) {
			return seen, err
		}
		if !pause(ctx, wait) {
			return seen, fmt.Errorf("caudal: it is not over: %w", context.Cause(ctx))
		}
	}
}
