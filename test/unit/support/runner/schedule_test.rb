# frozen_string_literal: true

require "test_helper"
require "support/runner/costs"
require "support/runner/report"
require "support/runner/schedule"

# Tests how bin/test runs jobs, and the lines that it prints.
class ScheduleTest < Support::TestCase
  # A job that waits until $1 jobs have begun.
  MEET = 'touch "$0/began-$2"; until [ "$(ls "$0" | grep -c began)" -ge "$1" ]; do sleep 0.01; done'
  # A job that fails if the same job runs at the same time.
  ALONE = 'mkdir "$0/alone" && sleep 0.02 && rmdir "$0/alone"'

  def group(name, *scripts, cores: 0, **options)
    jobs = scripts.map { |script| Runner::Job.new(*script, cores: cores) }
    Runner::Group.new(name, "about #{name}", jobs: -> { jobs }, **options).tap { |group| group.choose(false) }
  end

  def shell(script, *arguments)
    ["sh", "-c", script, temp_dir, *arguments.map(&:to_s)]
  end

  def run_all(*groups)
    report = Runner::Report.new(groups, [], File.join(temp_dir, "again"))
    output, = capture_io do
      Runner::Schedule.new(groups, temp_dir) { |group| report.print_group(group) }.run
      report.sum_up(Runner::Costs.new(groups, limits: {}))
    end
    output
  end

  # A Hash in the place of the file with the limits.
  def test_costs_are_summed_up_and_limited
    costs = { forks: 2, starts: 3, tests: [["A#test_one", 1.5, 2.0], ["A#test_two", 0.1, 0.2]] }
    both = group("both", *Array.new(2) { shell('echo "$1" >"$BONTEBOK_TEST_COSTS"', JSON.generate(costs)) })
    run_all(both)
    below, above = [6, 5].map do |starts|
      Runner::Costs.new([both], limits: { "both" => { "cpu" => 0.001, "starts" => starts, "forks" => 4 } })
    end
    assert_empty below.excess
    assert_equal ["both: 6 starts, the limit is 5 (costs.json)"], above.excess
    assert_equal [[both], []], [below, above].map(&:within_limits)
    assert_includes above.lines, "servers started: 6, forks: 4, compiler calls: 0"
    assert_includes above.lines, "    1.5  A#test_one"
    below.write(path = File.join(temp_dir, "costs.json"))
    assert_equal [6, 4], JSON.parse(File.read(path)).dig("groups", "both").values_at("starts", "forks")
  end

  def test_jobs_run_at_the_same_time_if_there_are_enough_processors
    one = group("one", shell(MEET, 3, 1), shell(MEET, 3, 2))
    other = group("other", shell(MEET, 3, 3))
    run_all(one, other)
    assert_equal [true, true], [one, other].map(&:passed?)
  end

  def test_jobs_run_one_after_the_other_if_there_are_too_few_processors
    groups = Array.new(3) { |number| group("g#{number}", shell(ALONE), shell(ALONE), cores: 1000) }
    run_all(*groups)
    assert groups.all?(&:passed?)
  end

  def test_a_group_that_runs_alone_runs_last_and_alone
    alone = group("timing", shell('ls "$0/other.done"'), shell(ALONE), shell(ALONE), alone: true)
    other = group("other", shell('touch "$0/other.done"'))
    output = run_all(alone, other)
    assert_equal [true, true], [alone, other].map(&:passed?)
    assert_operator output.index("== other: about other"), :<, output.index("== timing: about timing")
  end

  def test_the_output_of_a_group_stays_together_and_every_job_counts
    good = group("good", shell("echo out; echo err >&2"), shell("echo second"))
    bad = group("bad", shell("echo before; exit 3"), shell("echo after"))
    output = run_all(good, bad)
    assert_includes output, "== good: about good\nout\nerr\nsecond\n"
    assert_includes output, "== bad: about bad\nbefore\nafter\n"
    assert_match(/^   good +passed +\d+ s, +\d+ s of processors$/, output)
    assert_match(/^   bad +FAILED +\d+ s, +\d+ s of processors$/, output)
    assert_match(/^   ran once more: 0$/, output)
  end

  def test_failures_are_repeated_at_the_end
    minitest = group("minitest", shell("printf '%s\n' dots '  1) Failure:' a '  2) Error:' b; exit 1"))
    other = group("other", shell("seq 1 100; exit 1"))
    output = run_all(minitest, other)
    assert_match(/^== FAILED: .*\n  1\) Failure:\na\n  2\) Error:\nb\n/, output)
    assert_match(/^== FAILED: .*\n61\n(\d+\n)*100\n\z/, output)
  end

  def test_tests_that_ran_once_more_are_counted
    output = run_all(group("timing", shell('echo "A#b" >>"$0/again"')))
    assert_match(/^   ran once more: 1\n     A#b$/, output)
  end

  def test_a_job_that_is_killed_has_failed
    killed = group("killed", shell("kill -KILL $$"), shell("kill -KILL $PPID; kill -KILL $$"))
    run_all(killed)
    assert(killed.jobs.none?(&:passed?))
    refute_predicate killed, :passed?
  end

  def test_stop_ends_the_jobs_that_run
    stubborn = group("stubborn", shell('trap "" INT; touch "$0/deaf"; sleep 60; sleep 60'), shell("sleep 60"))
    schedule = Runner::Schedule.new([stubborn], temp_dir) { |_group| nil }
    thread = Thread.new { schedule.run }
    eventually { File.exist?(File.join(temp_dir, "deaf")) }
    thread.kill.join
    schedule.stop(0.1)
    assert_equal [false, false], stubborn.jobs.map(&:running?)
  end
end
