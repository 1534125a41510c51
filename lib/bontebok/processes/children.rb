# frozen_string_literal: true

require_relative "child"
require_relative "children/carrying"
require_relative "children/end_notes"
require_relative "children/ends"
require_relative "children/hung"
require_relative "children/orders"
require_relative "children/pauses"
require_relative "children/record"
require_relative "children/roster"
require_relative "children/replacement_queue"
require_relative "children/together"
require_relative "children/words"
require_relative "../system/clock"
require_relative "../config/hooks"
require_relative "../system/main_thread"

module Bontebok
  # The children of the supervisor (one master) or of a master (its workers). Each child has a number, and its
  # replacement gets the same number. This class keeps one child of each number running, by these rules:
  #
  #   - A child that ends after it was ready is replaced at once. A child that ends before it is ready has failed. The
  #     next child of its number is started after a pause, which is longer after each failure in a row. If two children
  #     of a number in a row end by themselves less than `pause` seconds after they were ready, the second one has
  #     failed as well.
  #   - A child that asks to leave serves until its replacement is ready. Then the child retires: it finishes its
  #     requests, and the other children accept the new connections. If several children ask, they are replaced one
  #     after the other. A child that still loads retires at once. So a number has at most one child that serves and one
  #     child that loads, however often children are replaced.
  #   - A child in which a request hangs is replaced at once, without waiting for other replacements (see Hung).
  #   - A running child that has closed its channel is replaced at once, because it cannot be told to end.
  #   - A child that does not become ready in time, or does not end in time, is killed. The log names it.
  class Children
    include Carrying
    include Ends
    include Hung
    include Orders
    include Together
    include Words

    # name: the log's word for a child. pause: seconds before the next start after a first failure. grace: seconds that
    # a child gets to finish. hijack: seconds that it may then wait for hijacked connections. margin: seconds that are
    # added to these times and to Child::QUIT_SECONDS for a child that waits for children of its own. boot: seconds that
    # a child gets to load, and again after :go to become ready. ended: called with each Child that has ended. stalled:
    # the StalledWorkers, which finds children that hang, or nil. The block gets a number, forks the child and returns
    # the Child; the block may raise Hooks::Failed.
    def initialize(name, count, pause:, grace:, log:, hijack: grace, margin: 0, boot: Float::INFINITY,
                   ended: proc {}, stalled: nil, &start)
      @roster = Roster.new(count)
      @pauses = Pauses.new(pause)
      @replacements = ReplacementQueue.new
      @record = Record.new(name, @roster.numbers, log)
      @margin = margin
      @seconds = { boot: boot, quit: Child::QUIT_SECONDS + margin, kill_children: Child::KILL_SECONDS }
      take_times(pause: pause, grace: grace, hijack: hijack)
      @ended = ended
      @stalled = stalled
      @start = start
      @go = false
      @stopping = false
    end

    def empty? = @roster.empty?

    # Waits until a child's channel or one of `others` is readable, or a deadline passes. After each wait, the caller
    # must read its signals and call #tick. The block gets an exception that the application raises in this thread (see
    # MainThread). until_then: a deadline of the caller.
    def wait(*others, until_then: nil, &interrupted)
      seconds = seconds_to_wait([*deadlines, *until_then, *resend_time])
      MainThread.wait([*others, *@roster.audible.map(&:channel)], seconds, &interrupted)
    end

    # Reads and sends words. Starts, retires and kills children by the rules above.
    def tick
      Channel.flush
      hear_and_reap
      let_serve
      @roster.select(&:lost?).each { |child| note_lost(child) }
      @roster.select(&:overdue?).each { |child| kill_now(child, child.omission) }
      kill_stalled if watch_time
      return if @stopping

      @record.resized
      @replacements.next(@roster.to_a)&.then { |child| replace(child) }
      fill
    end

    # Called when other code has reaped a process, which may be one of these children.
    def ended(pid, status)
      @roster.find { |child| child.pid == pid }&.ended(status)
    end

    # True if for each number one of these is true: a child has reached the step, the last start has failed, or the
    # system has rejected the fork.
    def settled?(step)
      @roster.settled?(step) { |number| @pauses.failing?(number) || (@pauses.refused? && @roster.vacant?(number)) }
    end

    def any?(step) = @roster.reached?(step)

    # True if all children only wait for hijacked connections and streams.
    def waiting?
      @roster.any? && @roster.all?(&:waiting?)
    end

    # True if every number has a child that has reached #succession and is not leaving.
    def whole?
      @roster.whole?(succession)
    end

    # Tells the loaded children to serve, and from now on each child as soon as it is loaded.
    def go
      @go = true
      @roster.each { |child| child.go(@seconds[:boot]) if child.reached?(:loaded) && !child.reached?(:ready) }
    end

    # Starts no more children, and tells all children how to end: :drain, :retire, :quit or :kill_children.
    def stop(how)
      @stopping = true
      @roster.each { |child| child.public_send(how, @seconds[how]) }
    end

    def kill
      @stopping = true
      @roster.reject(&:killed?).each { |child| kill_now(child, "has not ended") }
    end

    private

    # The step at which a child takes the place of the former child of its number.
    def succession
      :ready
    end

    def fill
      note_crowd
      @roster.startable.each { |number| start(number) if @pauses.over(number) <= Clock.now }
    end

    def take_times(pause:, grace:, hijack:)
      @pauses.pause = pause
      @seconds[:waits] = hijack + Child::KILL_SECONDS + @margin
      @seconds.default = grace + @margin
    end

    # EAGAIN: the system has rejected the fork. After a pause, a fork may succeed.
    def start(number)
      @roster.add(@start.call(number).tap { |child| child.expect(@seconds[:boot]) })
      @pauses.started
    rescue Errno::EAGAIN => e
      @record.refused(number, e)
      @pauses.refused
    rescue SystemCallError, Hooks::Failed => e
      @record.cannot_start(number, e)
      @pauses.failed(number, fault: e.is_a?(Hooks::Failed))
    end

    def seconds_to_wait(deadlines)
      limits = deadlines.select(&:finite?)
      seconds = [*limits, *watch_time].map { |time| [time - Clock.now, 0].max }.min
      limits.empty? ? seconds : [seconds, Clock::STEP].min
    end

    def deadlines
      times = @roster.flat_map { |child| [child.deadline, child.lost_at] }.compact
      @stopping ? times : times.concat(@roster.startable.map { |number| @pauses.over(number) })
    end

    def note(child, word)
      case word
      when *EndNotes::WORDS then child.blame(word)
      when :leave then @replacements.add(child.blame(:descriptors))
      when :hung, :stuck, :emptied then note_hung(child, word)
      when :waits then child.waits(@seconds[:waits])
      when *Child::PROGRESS then note_progress(child, word)
      end
    end

    def note_progress(child, step)
      child.reached(step)
      child.go(@seconds[:boot]) if step == :loaded && @go
      @pauses.ready(child.number) if step == :ready
      relieve(child) if step == succession && child.staying?
    end

    def relieve(child) = @roster.retire_formers(child.number, @seconds[:retire])

    def replace(child)
      return unless child.staying?

      @pauses.leaves(child.number, child.seconds_ready) if child.reached?(:ready)
      child.replace
      at_once = @roster.dispensable?(child, succession)
      @record.replaced(child, at_once) unless child.hung?
      child.retire(@seconds[:retire]) if at_once
    end
  end
end
