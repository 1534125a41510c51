# frozen_string_literal: true

require_relative "../sockets/channel"
require_relative "../system/clock"
require_relative "../system/proc/process_state"
require_relative "children/pauses"
require_relative "children/record"
require_relative "forked_process"
require_relative "generations/succession"

module Bontebok
  # The masters of the server: starts them, reads what they say, and kills those that do not end in time. Succession has
  # the rules by which one generation follows another.
  class Generations
    # Seconds that a master gets to end, in addition to the time of its workers. If the master were killed before its
    # workers, nobody would kill a worker that does not end.
    MASTER_SECONDS = 5

    # Seconds until a generation must be whole.
    def self.limit(config)
      seconds = config.boot_seconds
      seconds.zero? ? Float::INFINITY : seconds
    end

    # server: the Deploys, which has these methods. They are called with a Generation, except the first one:
    #
    #   start           Returns a new Generation. Raises SystemCallError.
    #   listen          Its master has loaded the application. Returns whether its listeners listen.
    #   seconds_to_keep Returns for how long the former generation stays loaded when this one serves.
    #   workers_serve?  It was told to stay loaded without workers. Returns whether its workers still serve.
    #   take_effect     It serves from now on.
    #   fail            Its deploy has failed; with the reason, without the subject of the sentence.
    #   ended           Its master has ended.
    #
    # workers: how many the server must have.
    def initialize(server, config, workers, log)
      @server = server
      @pauses = Children::Pauses.new(0)
      @record = Children::Record.new("master", [1], log)
      @succession = Succession.new(server, workers, @pauses, @record)
      @go = @stopping = false
      configure(config)
    end

    # Takes the times of another configuration. Running deadlines do not change.
    def configure(config)
      @pauses.pause = config.seconds(:err_respawn_interval)
      grace = config.seconds(:graceful_timeout) + MASTER_SECONDS
      hijack = config.seconds(:hijack_timeout) + ForkedProcess::KILL_SECONDS + MASTER_SECONDS
      @succession.limit = Generations.limit(config)
      @succession.seconds = @seconds = { drain: grace, retire: grace, waits: hijack,
                                         quit: ForkedProcess::QUIT_SECONDS + MASTER_SECONDS,
                                         kill_children: ForkedProcess::KILL_SECONDS }
    end

    # --- what the server asks ---

    # All generations but the kept one, those that leave included.
    def all = @succession.all

    def empty? = all.empty?

    # The pids of all masters but the kept one.
    def pids = all.map(&:pid)

    # True if the process is one of the masters.
    def pid?(pid) = with_kept.any? { |generation| generation.pid == pid }

    # The generation that stays loaded, for a rollback; nil: none.
    def kept = @succession.kept

    # Those that a deploy or a rollback has started, and that have neither taken effect nor failed.
    def under_way = @succession.present.select(&:under_way?)

    # True if a generation that is not told to end has reached the step: :loaded, :ready or :whole.
    def any?(step) = @succession.present.any? { |generation| generation.reached?(step) }

    def whole? = any?(:whole)

    # True if the newest generation is on trial: a former one serves, and stays if this one fails.
    def on_trial? = !@succession.newest.nil? && @succession.on_trial?(@succession.newest)

    # True if a generation has reached the step, or the last start has failed, or the system has rejected the fork.
    def settled?(step)
      any?(step) || @pauses.failing?(1) || (@pauses.refused? && @succession.present.empty?)
    end

    # True if a master that serves has an open channel and is not frozen.
    def answering?
      @succession.present.any? { |one| one.serves? && !one.process.deaf? && ProcessState.stop(one.pid).nil? }
    end

    # --- commands ---

    # The listeners listen: from now on, each master serves as soon as it is loaded.
    def go
      @go = true
      @succession.present.each { |one| one.tell(:go) if one.reached?(:loaded) && !one.reached?(:ready) }
    end

    # A deploy: another generation is started. All pauses after failures end, because the user may have repaired the
    # fault.
    def renew
      @pauses.cut_short
      @succession.replace
    end

    # The kept generation replaces the present one. Returns it; nil: none is kept.
    def roll_back
      process = kept&.process or return
      nil until process.hear.empty? || process.deaf? # words from before the rollback
      @succession.roll_back
    end

    # Ends the generation that stays loaded.
    def release
      @succession.release
    end

    # How many workers the server must have.
    def workers = @succession.workers

    def workers=(count)
      @succession.workers = count
    end

    # One worker :more, or :fewer. A master that has not asked for the number of workers yet gets it when it asks.
    def change_workers(word)
      @succession.workers += word == :more ? 1 : -1
      all.each { |one| one.tell(word) unless one.start&.answered? == false }
    end

    # Sends the word to all masters. A kept one has no workers, but it writes to the log, and its scoreboard can be
    # another one.
    def tell(word)
      all.each { |generation| generation.tell(word) }
      kept.process.tell(word) if kept && %i[reopen announce recall].include?(word)
    end

    # Starts no more masters, and tells all masters how to end: :drain, :retire, :quit or :kill_children.
    def stop(how)
      @stopping = true
      @succession.stop(how)
    end

    # --- the loop ---

    # Called when other code has reaped a process, which may be one of the masters.
    def ended(pid, status)
      with_kept.find { |generation| generation.pid == pid }&.process&.ended(status)
    end

    # Readable when a master has said something, or has ended.
    def sources = all.map(&:process).reject(&:deaf?).map(&:channel)

    # The time (Clock) of the next #tick; nil: none.
    def deadline
      times = all.flat_map { |one| [one.process.deadline, (one.process.lost_at unless one.leaving?)] }
      times.push(*@succession.deadlines, (@pauses.over(1) unless @succession.newest)) unless @stopping
      times.compact.select(&:finite?).min
    end

    # Reads and sends words. Starts, replaces and kills masters.
    def tick
      Channel.flush
      tick_kept
      hear_and_reap
      @succession.present.each { |one| @succession.lost(one) if one.process.lost? }
      all.each { |one| @succession.kill(one, "did not end within #{one.limit} s") if one.process.overdue? }
      return if @stopping

      replace_one_that_asks
      start if @succession.start? && @pauses.over(1) <= Clock.now
      @succession.look
      @succession.tell_lonely if @go
    end

    # For a supervisor that executes another program in its place: returns [[state, channel], ...].
    def carry
      all.map { |one| [one.carry(one.equal?(@succession.newest)), one.process.channel] }
    end

    # Takes the masters of the former program: the result of #carry after JSON. setup: the Setup that serves.
    def restore(carried, setup)
      @go = true
      carried.each do |state, channel|
        channel.send_later(state["unsent"].to_s)
        generation = Generation.new(setup, ForkedProcess.new(state.fetch("pid"), channel))
        generation.restore(state)
        @succession.add(generation, newest: state.fetch("staying"))
      end
    end

    private

    def with_kept = [*all, *kept]

    def tick_kept
      return unless kept

      kept.process.check unless kept.process.ended?
      @succession.look_at_kept
    end

    # The last words of a master that has ended are read before its end is noted.
    def hear_and_reap
      all.each { |one| one.process.check unless one.process.ended? }
      all.reject { |one| one.process.deaf? }.each { |one| hear(one) }
      all.select { |one| one.process.ended? }.each do |one|
        one.process.channel.close
        @succession.ended(one, stopping: @stopping)
      end
    end

    def hear(generation)
      generation.process.hear.each { |word| note(generation, word) }
    end

    def note(generation, word)
      case word
      when :loaded then generation.tell(:go) if @succession.loaded(generation) && @go
      when :ready, :whole, :failed then @succession.public_send(word, generation)
      when :crashed then generation.rollout&.note_crash
      when :leave then generation.asks = generation.equal?(@succession.newest) # others are replaced already
      when :waits then generation.process.expect(@seconds[:waits]) if generation.leaving?
      end
    end

    # Only if no other master is being replaced.
    def replace_one_that_asks
      @succession.replace if @succession.newest&.asks && all.size == 1
    end

    # EAGAIN: the system has rejected the fork. After a pause, a fork may succeed.
    def start
      @succession.add(@server.start)
      @pauses.started
    rescue Errno::EAGAIN => e
      @record.refused(1, e)
      @pauses.refused
    rescue SystemCallError => e
      @record.cannot_start(1, e)
      @pauses.failed(1)
    end
  end
end
