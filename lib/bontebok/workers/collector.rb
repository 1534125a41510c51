# frozen_string_literal: true

module Bontebok
  # Runs Ruby's garbage collector at moments that suit a server that forks. Calls a method only if this Ruby has it. Not
  # for tuning: sizes and limits are Ruby's own matter. For Master and OutOfBand.
  class Collector
    # An object becomes old when it survives this many collections. The collector writes to young objects, in older
    # releases of Ruby into the object itself. In a worker, such a write copies a page that was shared with the master.
    AGE = 3

    # collector, process: replaced in tests.
    def initialize(collector: GC, process: Process)
      @gc = collector
      @process = process
      @postponing = false
    end

    # Reduces the pages that workers will change. Call it when the application is loaded, before the first fork.
    # compact: also moves objects together. Process.warmup, where Ruby has it, moves them in any case.
    def settle(compact: false)
      return @process.warmup if @process.respond_to?(:warmup)

      AGE.times { @gc.start }
      @gc.compact if compact && @gc.respond_to?(:compact)
    end

    # From now on, Ruby collects only young objects until #collect is called. So no request waits for a collection of
    # old objects. A Ruby without this setting still collects them at any time.
    def postpone_major
      @postponing = @gc.respond_to?(:config) && @gc.config.key?(:rgengc_allow_full_mark)
      allow_major(false) if @postponing
    end

    # Collects young objects, and old objects if their collection is due. If Ruby cannot postpone that collection, this
    # always collects both.
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
