# frozen_string_literal: true

require_relative "child"
require_relative "children/ends"
require_relative "children/hung"
require_relative "children/orders"
require_relative "children/pauses"
require_relative "children/record"
require_relative "children/roster"
require_relative "children/replacement_queue"
require_relative "../system/clock"
require_relative "../config/hooks"
require_relative "../system/main_thread"

module Bontebok
  # The children that a process must have, by number: the supervisor's one master, a master's workers. Keeps one staying
  # child per number alive and replaces those that go. The rules:
  #
  #   - One that was ready and ends is replaced at once. One that ends before it was ready is a failure: its number
  #     pauses, longer with each failure in a row. To end by itself sooner than such a pause after it was ready is a
  #     failure as well, from the second time in a row.
  #   - One that asks to leave goes on serving until its replacement is ready. Then it retires: what it has not accepted
  #     is for the others. Of several that ask each waits until the one before it has ended. One that loads retires at
  #     once: however often they are to be replaced, of each number one serves and one loads.
  #   - One in which a request hangs is replaced beside all others, see Hung.
  #   - One that lives and does not talk any more is replaced at once. Nobody can tell it to end.
  #   - One that is not ready in time, or has not ended in time after it was told to, is killed and named in the log.
  class Children
    include Ends
    include Hung
    include Orders

    # name: what the log calls a child. margin: seconds that one may take on top of patience, and of what an end at once
    # may take, if it has children of its own to wait for. interval: seconds between any two starts. boot: seconds in
    # which one must be loaded, and again ready once it may go. ended: is called with each Child that has ended.
    # stalled: the StalledWorkers, where one may be. The block forks the child of a number and returns the Child; it may
    # raise Hooks::Failed.
    def initialize(name, count, pause:, patience:, log:, margin: 0, interval: 0, boot: Float::INFINITY,
                   ended: proc {}, stalled: nil, &start)
      @roster = Roster.new(count)
      @pauses = Pauses.new(pause, interval)
      @replacements = ReplacementQueue.new
      @record = Record.new(name, @roster.numbers, log)
      @seconds = { boot: boot, quit: Child::QUIT_SECONDS + margin, kill_children: Child::KILL_SECONDS }
      @seconds.default = patience + margin
      @ended = ended
      @stalled = stalled
      @start = start
      @go = false
      @stopping = false
    end

    def empty?
      @roster.empty?
    end

    # Waits until something happens to a child, a deadline passes or one of the others is readable. #tick is to follow,
    # after the signals were taken: a CHLD that comes later wakes the next wait. The block is given what the application
    # raises here (MainThread). until_then: a deadline of the caller's.
    def wait(*others, until_then: nil, &interrupted)
      seconds = seconds_to_wait([*deadlines, *until_then])
      MainThread.wait([*others, *@roster.audible.map(&:channel)], seconds, &interrupted)
    end

    # Hears what the children say, and starts, retires and kills by the rules above.
    def tick
      @roster.audible.each { |child| child.hear.each { |word| note(child, word) } }
      reap
      @roster.select(&:lost?).each { |child| note_lost(child) }
      @roster.select(&:overdue?).each { |child| kill_now(child, child.omission) }
      kill_stalled if watch_time
      return if @stopping

      @replacements.next(@roster.to_a)&.then { |child| replace(child) }
      fill
    end

    # Somebody else has waited for a process, which may be one of these.
    def ended(pid, status)
      @roster.find { |child| child.pid == pid }&.ended(status)
    end

    # Every number has a child that came so far, or has failed, or the system has no room for it.
    def settled?(step)
      @roster.settled?(step) { |number| @pauses.failing?(number) || (@pauses.refused? && @roster.of(number).empty?) }
    end

    def any?(step)
      @roster.any? { |child| child.reached?(step) }
    end

    # Every number has a child that serves.
    def whole?
      @roster.whole?(succession)
    end

    # Lets those serve that are loaded, and those that will be.
    def go
      @go = true
      @roster.each { |child| child.go(@seconds[:boot]) if child.reached?(:loaded) && !child.reached?(:ready) }
    end

    # Says it to all; to one that loads, when it is loaded.
    def tell(word)
      @roster.each { |child| child.tell(word) }
    end

    # Nothing is started any more; all are told how to end: :drain, :retire, :quit or :kill_children.
    def stop(how)
      @stopping = true
      @roster.each { |child| child.public_send(how, @seconds[how]) }
    end

    # Whoever is still there ends now.
    def kill
      @stopping = true
      @roster.reject(&:killed?).each { |child| kill_now(child, "has not ended") }
    end

    private

    # The step at which a child takes the place of the former one of its number.
    def succession
      :ready
    end

    def fill
      note_crowd
      @roster.startable.each { |number| start(number) if @pauses.over(number) <= Clock.now }
    end

    # When there is no room for one more now, there may be later.
    def start(number)
      @roster.add(@start.call(number).tap { |child| child.expect(@seconds[:boot]) })
      @pauses.started
    rescue Errno::EAGAIN => e
      @record.refused(number, e)
      @pauses.refused
    rescue SystemCallError, Hooks::Failed => e
      @record.cannot_start(number, e)
      @pauses.failed(number)
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
      when :leave then @replacements.add(child)
      when :hung, :stuck, :emptied then note_hung(child, word)
      when *Child::PROGRESS then note_progress(child, word)
      end
    end

    def note_progress(child, step)
      child.reached(step)
      child.go(@seconds[:boot]) if step == :loaded && @go
      @pauses.ready(child.number) if step == :ready
      @roster.retire_formers(child.number, @seconds[:retire]) if step == succession && child.staying?
    end

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
