# frozen_string_literal: true

require "json"
require "minitest/mock"
require "test_helper"
require "bontebok/cli/status/observation"
require "bontebok/cli/status/observed_memory"
require "bontebok/status/text"

# Looks at memory that the test makes. The test process is a server with one process.
class ObservationTest < Support::TestCase
  Server = Struct.new(:facts, :memory, :pid) do
    def answered? = !facts.empty?
  end
  # As ObservedMemory.
  Memory = Struct.new(:lanes, :counted, :totals, :kept, :waiting, :draining, :fault, keyword_init: true) do
    def notes(kind) = [*kept.to_h[kind]]
    def draining? = draining == true
    def empty? = false
    def hidden? = false
    def uncounted? = totals.empty?
  end
  FACTS = { version: "1", pid: 7, state: "serving", generation: 2, workers: 0, mode: "single", threads: 2 }.freeze

  def test_slots_join_the_lanes_with_what_they_have_counted
    worker = look.workers.first
    assert_equal [3, 2, Process.pid, 5, 1, 12, 0.5, 1000.0],
                 worker.values_at(:number, :generation, :pid, :requests, :errors, :detached, :gc_time, :started)
    assert_equal [6, 2], worker[:connections].values_at(:idle, :served)
    assert_equal [1.5, 0.25], [worker[:silent], worker[:threads].first[:taken]]
    assert_equal([["request", "GET /", "body"], ["idle", nil, nil]],
                 worker[:threads].map { |thread| thread.values_at(:state, :label, :held) })
  end

  def test_the_kernel_tells_what_the_process_does
    worker = look.workers.first
    assert_equal [true, "R", true], [worker[:pss] > 1 << 20, worker[:state], worker[:cpu].positive?]
    assert_equal [main_thread, "R"], worker[:threads].first.values_at(:tid, :run)
    assert_nil worker[:threads].last[:run] # the thread has no request
  end

  # "0": the thread runs, or the user may not see it. A compiler adds a suffix.
  def test_the_function_of_the_kernel_in_which_a_thread_waits
    { "do_wait.constprop.0" => "do_wait", "0" => nil, "a b" => nil, "\xff\e[2J" => nil, nil => nil }.each do |text, one|
      read = ->(path) { path.end_with?("wchan") ? text&.b : File.binread(path) }
      Bontebok::ProcFile.stub(:read, read) { assert_equal [one], [look.workers.first[:threads].first[:kernel]] }
    end
  end

  # The user may have no thread more (ulimit -u, pids.max).
  def test_the_memory_is_read_without_other_threads
    [0, 1].each do |most|
      made = 0
      refusal = ->(&block) { (made += 1) > most ? raise(ThreadError, "can't create Thread") : Thread.start(&block) }
      worker = Thread.stub(:new, refusal) { look.workers.first }
      assert_operator worker[:pss], :>, 1 << 20, most
    end
  end

  def test_pids_of_other_processes_are_left_out
    lanes = [lane(0), lane(1, pid: 1), lane(2, pid: Process.ppid), lane(3, pid: (2**31) - 1)]
    assert_equal([Process.pid], look(memory(lanes: lanes)).workers.map { |worker| worker[:pid] })
  end

  def test_the_memory_is_newer_than_the_answer
    assert_equal "draining", look(memory(draining: true)).server[:state]
    kept = { deploy: [[5000, "generation 2 serves (deploy)"], [9000, "generation 1 serves (rollback)"],
                      [9500, "generation 3 failed: y"]] }
    found = look(memory(kept: kept))
    assert_equal [9.0, "rollback", 2, 3],
                 [*found.server.values_at(:serving_since, :by, :generation), found.deploys.size]
    assert_equal 1, look(memory(kept: kept), {}).server[:generation]
  end

  # The kernel is asked for each address. A screen has 32 of them.
  def test_the_queues_of_the_first_addresses
    addresses = Array.new(40) { |number| "127.0.0.1:#{number + 1}" }
    asked = []
    Bontebok::InetDiag.stub(:sockets, ->(info, _) { asked.push(info.ip_port) && [] }) do
      look(memory, { **FACTS, listeners: [1, *addresses, *addresses] })
    end
    assert_equal [*1..32], asked
  end

  def test_a_server_that_does_not_answer
    found = look(memory(fault: "why"), {})
    assert_equal ["the server (pid #{Process.pid}) does not answer, and runs",
                  "why"], found.server[:trouble]
    assert_equal ["single", nil, Process.pid, 2], found.server.values_at(:mode, :state, :pid, :threads)
    assert_equal({ requests: nil, oldest: nil }, found.waiting)
  end

  def test_totals_that_were_not_read
    totals = { counters: {}, names: {}, queue_time: [], service_time: [], ready: { last: 0 }, live: { last: 0 } }
    assert_equal([true, false], [[], [totals]].map { |found| look(memory(totals: found)).server[:uncounted] })
  end

  # A system without files in memory.
  def test_the_workers_that_the_server_tells
    told = [{ "pid" => 9, "threads" => 3, "busy" => 1, "requests" => 4, "leaves" => true, "longest" => 1500 },
            { "pid" => "x", "threads" => -1, "busy" => 2**70 }, 7,
            { "threads" => 1.0 / 0, "busy" => {}, "longest" => [] }]
    memory = Bontebok::ObservedMemory.new({}, reason: "no file")
    found = look(memory, { **FACTS, processes: told })
    assert_equal ["the numbers of this server cannot be read: no file"], found.server[:trouble]
    assert found.server[:hidden]
    found = found.workers
    assert_equal([[9, 4, true], [nil, 0, false], [nil, 0, false]],
                 found.map { |worker| worker.values_at(:pid, :requests, :leaves) })
    assert_equal([["request", 1.5], ["idle", nil], ["idle", nil]],
                 found.first[:threads].map { |thread| thread.values_at(:state, :taken) })
  end

  def test_values_of_any_type_that_the_server_tells
    memory = Bontebok::ObservedMemory.new({})
    [true, {}, [1], "2", Float::INFINITY, Float::NAN, -1, 2**70, nil].each do |value|
      facts = %i[masters listeners workers mode state processes].to_h { |key| [key, value] }
      refute_nil Bontebok::Status::Text.screen(look(memory, { **FACTS, **facts }))
      told = %w[pid threads busy longest requests errors leaves].to_h { |key| [key, value] }
      refute_nil Bontebok::Status::Text.screen(look(memory, { **FACTS, processes: [told, { **told, "threads" => 1 }] }))
    end
  end

  # SEED=N repeats a failure.
  def test_files_with_any_bytes
    skip "no files are shared" if Bontebok::Core::PORTABLE

    random = Random.new(Integer(ENV.fetch("SEED", 38)))
    files = [Bontebok::Core::Scoreboard.file(4), Bontebok::Core::Metrics.file(4)]
    files = files.map { |number| File.for_fd(number, "r+") }
    memory = Bontebok::ObservedMemory.new({ "scoreboard" => [files.first], "totals" => [files.last] })
    50.times do
      files.zip([28, 32]) { |file, layout| file.pwrite(bytes(random, file.size - layout), layout) }
      refute_match(/[[:cntrl:]&&[^\n]]/, Bontebok::Status::Text.screen(look(memory)))
    end
  ensure
    memory&.close
  end

  private

  def look(memory = self.memory, facts = FACTS)
    Bontebok::Observation.new(Server.new(facts, memory, Process.pid)).snapshot
  end

  def memory(**fields)
    lanes = [lane(0, state: :request, taken: 250, label: "GET /", held: :body), lane(2, silent: nil)]
    Memory.new(lanes: lanes, counted: { [0, Process.pid] => counts(main_thread), [2, Process.pid] => counts(0) },
               totals: [], **fields)
  end

  def lane(slot, **fields)
    { slot: slot, pid: Process.pid, state: :idle, leaves: false, requests: slot.zero? ? 2 : 3, errors: slot / 2,
      taken: nil, queue_time: 0.0, silent: 1500, detached: slot * 6, waits: false, held: nil, label: nil, **fields }
  end

  def counts(thread)
    { pid: Process.pid, thread: thread, worker: 3, generation: 2, began: 1_000_000, gc_time: 250_000,
      connections: { keepalive: 3, served: 1 } }
  end

  def main_thread = Process.pid

  def bytes(random, size)
    words = [random.bytes(4), [Process.pid].pack("l"), "\0\0\0\0"]
    Array.new((size / 4) + 1) { words.sample(random: random) }.join[0, size]
  end
end
