package main

// This client has no commands for user tasks, modification, migration and batches: what it can do with them is to deploy, and to work.

func userTask(r *run) {
	r.deploy("assess.bpmn")
	instance := r.start("assess", map[string]any{"boss": "ann"})
	job := r.job("io.camunda.zeebe:userTask")
	headers, err := job.GetCustomHeadersAsMap()
	r.must(err, "headers")
	r.equal(job.ElementId, "judge", "element")
	r.equal(headers["io.camunda.zeebe:assignee"], "ann", "assignee")
	r.equal(headers["io.camunda.zeebe:candidateGroups"], `["judges"]`, "candidate groups")
	r.complete(job, map[string]any{"verdict": "good"})
	r.equal(r.state(instance), "COMPLETED", "state")
}

func form(r *run) {
	deployed, err := r.client.NewDeployResourceCommand().AddResourceFile(fixture("opinion.form")).AddResourceFile(fixture("review.bpmn")).Send(r.ctx)
	r.must(err, "deploy")
	forms := 0
	for _, deployment := range deployed.Deployments {
		if form := deployment.GetForm(); form != nil {
			forms++
			r.equal(form.FormId, "opinion", "form")
			r.equal(form.Version, int32(1), "version of the form")
		}
	}
	r.equal(forms, 1, "forms")
	instance := r.start("review", map[string]any{"text": "a"})
	task := r.only(r.search("user-tasks", byInstance(instance)), "tasks")
	r.equal(task["elementId"], "read", "the task")
	_, err = r.client.NewCancelInstanceCommand().ProcessInstanceKey(instance).Send(r.ctx)
	r.must(err, "cancel")
}

func executionListeners(r *run) {
	r.deploy("listened.bpmn")
	instance := r.start("listened", nil)
	r.complete(r.job("before-print"), map[string]any{"paper": "white"})
	printing := r.job("print")
	r.variables(printing.Variables, map[string]any{"paper": "white"})
	r.complete(printing, nil)
	after := r.job("after-print")
	r.equal(len(r.search("user-tasks", byInstance(instance))), 0, "tasks meanwhile")
	r.complete(after, nil)
	r.equal(r.only(r.search("user-tasks", byInstance(instance)), "tasks")["state"], "CREATED", "the next task")
	_, err := r.client.NewCancelInstanceCommand().ProcessInstanceKey(instance).Send(r.ctx)
	r.must(err, "cancel")
}

func (r *run) deploy(name string) {
	_, err := r.client.NewDeployResourceCommand().AddResourceFile(fixture(name)).Send(r.ctx)
	r.must(err, "deploy "+name)
}
