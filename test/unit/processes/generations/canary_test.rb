# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "bontebok/processes/generations/canary"

# The verdict about the first workers of a new generation. The children of this process are the canary.
class CanaryVerdictTest < Support::TestCase
  Links = Struct.new(:processes, :shared) do
    def share_with(pids) = self.shared = pids
  end
  OLD = 1 # the process 1 is no child of this process

  def setup
    @child = Process.spawn("sleep", "60")
    @links = Links.new([])
    show([10_000, 5], [0, 0])
    @canary = Bontebok::Canary.new(1, 60, 0.01)
    Bontebok::Clock.stub(:now, 0) { @canary.begin(Process.pid, @links) }
  end

  def teardown
    Process.kill("KILL", @child)
    Process.wait(@child)
  end

  # [requests, errors] of old and new workers => [verdict after 1 s, verdict after 60 s]
  { [[1000, 0], [200, 2]] => [nil, :good], [[1000, 0], [200, 3]] => [nil, :bad], [[1000, 0], [199, 3]] => [nil, :few],
    [[1000, 20], [300, 9]] => [nil, :good], [[1000, 20], [300, 10]] => [nil, :bad], [[0, 0], [200, 0]] => [nil, :good],
    [[0, 0], [0, 0]] => [nil, :few], [[0, 0], [5, 5]] => [nil, :few], [[90, 0], [20, 6]] => %i[bad bad],
    [[90, 0], [20, 4]] => [nil, :few], [[90, 27], [20, 6]] => [nil, :few], [[721, 0], [160, 48]] => %i[bad bad],
    [[1000, 20], [300, 40]] => %i[bad bad] }.each do |(old, new), verdicts|
    define_method("test_the_verdict_on_#{old.join('_')}_and_#{new.join('_')}") do
      show([10_000 + old[0], 5 + old[1]], new)
      assert_equal(verdicts, [1, 60].map { |time| Bontebok::Clock.stub(:now, time) { @canary.verdict } })
    end
  end

  # Requests past request_timeout are errors before they are requests.
  def test_more_errors_than_requests
    show([10_050, 27], [20, 60])
    assert_equal(:bad, Bontebok::Clock.stub(:now, 1) { @canary.verdict })
    assert_match(/^canary           1        60      60  100.00 %$/, @canary.table)
  end

  # A worker gives up lanes when it needs fewer threads.
  def test_numbers_that_become_smaller_count_as_none
    show([500, 0], [100, 2])
    assert_nil(Bontebok::Clock.stub(:now, 1) { @canary.verdict })
    assert_match(/^former           1         0       0    0.00 %$/, @canary.table)
  end

  def test_workers_that_have_ended_or_began_later_do_not_disturb
    @links.processes = [process(999_999_999, 400, 400), process(@child, 250, 4)]
    assert_equal(:bad, Bontebok::Clock.stub(:now, 60) { @canary.verdict })
  end

  # A worker that reaches max_request_per_child, for example.
  def test_a_worker_that_is_replaced_still_counts
    show([11_000, 6], [190, 0])
    Bontebok::Clock.stub(:now, 1) { @canary.verdict }
    @links.processes.pop
    assert_equal(:few, Bontebok::Clock.stub(:now, 60) { @canary.verdict })
    assert_match(/^canary           0       190       0 /, @canary.table)
  end

  def test_the_living_new_workers_get_their_share
    assert_equal [@child], @links.shared
    @links.processes.pop
    Bontebok::Clock.stub(:now, 1) { @canary.verdict }
    assert_equal [], @links.shared
  end

  def test_the_table_compares_both
    show([11_000, 6], [200, 3])
    Bontebok::Clock.stub(:now, 1) { @canary.verdict }
    assert_equal ["generation workers  requests  errors   share", "canary           1       200       3    1.50 %",
                  "former           1      1000       1    0.10 %"], @canary.table.lines(chomp: true)
  end

  private

  def show(old, new)
    @links.processes = [process(OLD, *old), process(@child, *new)]
  end

  def process(pid, requests, errors)
    { pid: pid, requests: requests, errors: errors }
  end
end
