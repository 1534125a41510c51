# frozen_string_literal: true

require "test_helper"
require "bontebok/workers/collector"

# Tests how Collector calls the garbage collector. A stand-in acts as the garbage collectors of different Ruby versions.
class CollectorTest < Support::TestCase
  # Records the calls. config: the result of GC.config; nil: GC.config does not exist.
  class StandIn
    attr_reader :calls
    attr_accessor :major_due

    def initialize(config: nil)
      @calls = []
      return unless config

      define_singleton_method(:config) do |change = nil|
        @calls << change if change
        config
      end
    end

    def start(full_mark: true)
      @calls << (full_mark ? :all : :young)
    end

    def latest_gc_info(key)
      @major_due if key == :need_major_by
    end

    def taken
      @calls.dup.tap { @calls.clear }
    end
  end

  CONFIG = { rgengc_allow_full_mark: true, implementation: "default" }.freeze
  ALLOW = { rgengc_allow_full_mark: true }.freeze
  FORBID = { rgengc_allow_full_mark: false }.freeze

  def test_old_objects_are_collected_only_when_their_collection_is_due
    gc = StandIn.new(config: CONFIG)
    collector = Bontebok::Collector.new(collector: gc)
    collector.postpone_major
    assert_equal [FORBID], gc.taken
    collector.collect
    assert_equal [:young], gc.taken
    gc.major_due = :oldmalloc
    collector.collect
    assert_equal [ALLOW, :all, FORBID], gc.taken
  end

  def test_a_major_collection_is_forbidden_again_even_after_an_exception
    gc = StandIn.new(config: CONFIG)
    collector = Bontebok::Collector.new(collector: gc)
    collector.postpone_major
    gc.major_due = :nofree
    def gc.start(**) = raise(NoMemoryError)
    assert_raises(NoMemoryError) { collector.collect }
    assert_equal [FORBID, ALLOW, FORBID], gc.taken
  end

  # GC.config does not exist, or the garbage collector has no major collections.
  def test_everything_is_collected_if_a_major_collection_cannot_be_postponed
    [StandIn.new, StandIn.new(config: { implementation: "mmtk" })].each do |gc|
      collector = Bontebok::Collector.new(collector: gc)
      collector.postpone_major
      collector.collect
      assert_equal [:all], gc.taken
    end
  end

  def test_warmup_is_the_only_call_before_a_fork_if_it_exists
    gc = StandIn.new
    process = Object.new.tap { |one| def one.warmup = @warm = true }
    Bontebok::Collector.new(collector: gc, process: process).settle
    assert process.instance_variable_get(:@warm)
    assert_empty gc.taken
  end

  def test_young_objects_are_collected_before_a_fork_if_there_is_no_warmup
    gc = StandIn.new(config: CONFIG)
    Bontebok::Collector.new(collector: gc, process: Object.new).settle
    assert_equal [:young], gc.taken
  end

  # The test starts a new Ruby process, because a process keeps the changed settings of its garbage collector.
  def test_the_collector_works_with_this_ruby
    program = <<~RUBY
      require "bontebok/workers/collector"
      collector = Bontebok::Collector.new
      collector.settle
      collector.postpone_major
      before = GC.count
      3.times { collector.collect }
      abort "no collection" unless GC.count >= before + 3
    RUBY
    assert system(Gem.ruby, *$LOAD_PATH.flat_map { |directory| ["-I", directory] }, "-e", program)
  end
end
