# frozen_string_literal: true

module Bontebok
  # Ruby's garbage collector, as far as a server that forks has a better moment for it than Ruby. What this Ruby does
  # not have is done without. Not for tuning: sizes and limits are Ruby's own matter.
  class Collector
    # So many collections make an object old that survives them. The collector writes to young ones, in Ruby's older
    # releases into the object itself: each write makes a copy of the page that a worker shares with its master.
    AGE = 3

    # collector, process: what stands for Ruby's in tests.
    def initialize(collector: GC, process: Process)
      @gc = collector
      @process = process
      @postponing = false
    end

    # Before the first fork, when the application is loaded: leaves as few pages as possible that workers will change.
    # compact: for a Ruby without Process.warmup, which moves objects in any case.
    def settle(compact: false)
      return @process.warmup if @process.respond_to?(:warmup)

      AGE.times { @gc.start }
      @gc.compact if compact && @gc.respond_to?(:compact)
    end

    # From now on Ruby collects young objects only, until #collect is called: it looks at old ones no more while a
    # client waits. Where Ruby cannot do that it goes on collecting when it wants to.
    def postpone_major
      @postponing = @gc.respond_to?(:config) && @gc.config.key?(:rgengc_allow_full_mark)
      allow_major(false) if @postponing
    end

    # Collects young objects, and old ones where that is due; where Ruby cannot postpone it, always.
    def collect
      if !@postponing
        @gc.start
      elsif @gc.latest_gc_info(:need_major_by)
        collect_all
      else
        @gc.start(full_mark: false)
      end
    end

    private

    # Only while it is allowed do objects become old.
    def collect_all
      allow_major(true)
      @gc.start
    ensure
      allow_major(false)
    end

    def allow_major(answer)
      @gc.config(rgengc_allow_full_mark: answer)
    end
  end
end
