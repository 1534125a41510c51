# frozen_string_literal: true

module Bontebok
  # Runs Ruby's garbage collector, where a server that forks has a better moment for it than Ruby. Uses only the methods
  # that this Ruby has. Not for tuning: sizes and limits are Ruby's own matter. For Master and OutOfBand.
  class Collector
    # An object becomes old when it survives this many collections. The collector writes to young objects, in older
    # releases of Ruby into the object itself. Each such write makes a copy of the page, which a worker shares with its
    # master.
    AGE = 3

    # collector, process: replaced in tests.
    def initialize(collector: GC, process: Process)
      @gc = collector
      @process = process
      @postponing = false
    end

    # Leaves as few pages as possible that workers will change. Call it before the first fork, when the application is
    # loaded. compact: moves objects, in a Ruby without Process.warmup; Process.warmup moves them in any case.
    def settle(compact: false)
      return @process.warmup if @process.respond_to?(:warmup)

      AGE.times { @gc.start }
      @gc.compact if compact && @gc.respond_to?(:compact)
    end

    # Ruby then collects only young objects, until #collect is called. So no client waits while Ruby looks at old
    # objects. A Ruby that cannot do so still collects when it wants to.
    def postpone_major
      @postponing = @gc.respond_to?(:config) && @gc.config.key?(:rgengc_allow_full_mark)
      allow_major(false) if @postponing
    end

    # Collects young objects, and old objects if that is due. If Ruby cannot postpone that, always collects both.
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

    # Objects become old only while full marks are allowed.
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
