# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# With `max_workers auto`, the first worker serves while the others start, one for each CPU, as long as the memory
# suffices. The configuration file makes the machine: four CPUs, and memory for three workers, whatever their size is.
class AutoWorkersStartTest < Support::TestCase
  include ProcessTree

  MACHINE = <<~RUBY
    require "bontebok/config/machine/cpus"
    require "bontebok/processes/supervisor/auto_workers"
    Bontebok::Cpus.class_eval { def count = 4 }
    Bontebok::Supervisor::AutoWorkers.singleton_class.prepend(Module.new do
      def decide(memory:, **input)
        worker = memory.own + (self::GROWTH * memory.shared)
        bytes = ((2 * memory.shared) + (7 * worker)) / self::SHARE
        super(memory: memory, **input, limit: Bontebok::MemoryLimit.new(bytes.to_i, "the cgroup"))
      end
    end)
  RUBY
  # The other workers of the first generation wait at the gate before they serve.
  GATE = "after_worker_ready { |worker| File.read('gate') if worker.number > 1 }\n"

  def test_the_number_of_workers_follows_the_memory_and_is_kept
    make_gate
    configure(:auto, GATE)
    @server = start_bontebok(args: ["-c", "bontebok.rb"], rackup: GATED_APP)
    assert_the_first_worker_serves_alone
    assert_deploys(auto: 3)
    @server.signal("TTIN")
    @server.wait_for_output(/ 4 workers$/)
    assert_deploys(auto: 4)
    assert_deploys({ 2 => 2, auto: 3 })
    assert_equal 2, @server.output.text.scan("max_workers auto: 3 workers, limited by the memory: the cgroup has").size
  end

  # Its successor is measured.
  def test_the_first_worker_ends_before_it_is_measured
    temp_file("bontebok.rb", <<~RUBY)
      #{MACHINE}err_respawn_interval '100ms'
      Bontebok::Supervisor::AutoWorkers.singleton_class.prepend(Module.new do
        def measure(worker)
          Process.kill(:KILL, @killed = worker) unless @killed
          sleep 0.01 until worker != @killed || ended?(worker)
          super
        end
      end)
    RUBY
    @server = start_bontebok(args: ["-c", "bontebok.rb", "-w", "auto"], rackup: GATED_APP)
    @server.wait_for_output(/max_workers auto: \d workers?, limited by the .*: .*/)
    assert_match(/max_workers auto: 3 workers, limited by the memory: the cgroup has/, @server.output.text)
    wait_for_workers(@server, 3)
  end

  private

  def configure(workers, *others)
    temp_file("bontebok.rb", "#{MACHINE}max_workers #{workers.inspect}\nerr_respawn_interval '100ms'\n#{others.join}")
  end

  def assert_the_first_worker_serves_alone
    @server.wait_for_output(/: 1 to 4 workers of 1 thread$.*max_workers auto: .* 3 workers$/m)
    first = @server.get.body.to_i
    assert_equal ["w1"], ready
    eventually("3 workers") { gate_opens?(gate) || ready.size == 3 }
    assert_equal first, wait_for_workers(@server, 3).first
  end

  def ready = @server.output.text.scan(/(w\d) g1 ready/).flatten

  # { value of max_workers => number of workers afterwards }
  def assert_deploys(numbers)
    numbers.each do |value, count|
      former = workers(@server)
      configure(value)
      @server.signal("USR2")
      eventually("new workers") { !workers(@server).intersect?(former) }
      wait_for_workers(@server, count, without: former)
    end
  end
end
