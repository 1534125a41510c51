# frozen_string_literal: true

require_relative "../../system/clock"
require_relative "canary"
require_relative "generation"

module Bontebok
  # The rules by which one generation follows another. At most one generation is each of these:
  #
  #   newest   the one that is to serve, or serves
  #   former   serves until the newest one is whole; it stays if the newest one fails
  #   kept     stays loaded for some time after a deploy (keep_former), for a rollback
  #
  # All others leave. While the former generation serves, the newest one is on trial: its deploy fails if its master
  # ends, closes its channel, cannot listen, or does not get all workers ready within worker_boot_timeout, or if it is
  # judged to be bad (Rollout). Then it ends, whatever comes after, and nothing is tried again. Without a former
  # generation, another master is started.
  #
  # This class forks nothing and reads nothing: the class Generations tells it each event.
  class Succession
    # The verdicts of Rollout#judge, in the words of the log.
    VERDICTS = { bad: "has too many errors", crashed: "has lost a worker, which has ended by itself",
                 few: Canary::FEW, unknown: "cannot be judged" }.freeze

    attr_reader :newest, :former, :kept, :leaving
    # How many workers the server must have.
    attr_accessor :workers
    # limit: seconds until a generation must be whole. seconds: for each way to end (Generations#configure).
    attr_writer :limit, :seconds

    # server: see Generations. pauses: Children::Pauses, with the number 1. record: Children::Record.
    def initialize(server, workers, pauses, record)
      @server = server
      @workers = workers
      @pauses = pauses
      @record = record
      @leaving = []
    end

    # All but the kept one.
    def all = [*@former, *@newest, *@leaving]

    # Those that were not told to end.
    def present = [*@former, *@newest]

    # True if a former generation serves until the generation is whole, and stays if it fails.
    def on_trial?(generation) = generation.equal?(@newest) && !@former.nil? && @former.serves?

    # --- commands ---

    # newest: false: it leaves, or serves until the newest one is whole. The former one has got what it has asked for:
    # it does not ask again if the newest one fails.
    def add(generation, newest: true)
      @asked = false
      @former&.asks = false
      if generation.leaving? then @leaving << generation
      else newest ? @newest = generation : @former = generation
      end
    end

    # Another generation is to take the place of the newest one, which serves until then. A generation that is not whole
    # leaves at once if another one is loaded, or if itself is not.
    def replace
      @asked = true
      generation = @newest or return
      @newest = nil
      @pauses.leaves(1, generation.seconds_ready) if generation.reached?(:ready)
      at_once = !generation.reached?(:whole) && (!generation.reached?(:loaded) || @former&.reached?(:loaded))
      @record.replaced(generation, at_once)
      grow_back(generation)
      at_once ? let_go(generation) : @former = generation
    end

    # The kept generation replaces the present one. Returns it; nil: none is kept.
    def roll_back
      generation = @kept or return
      @kept = nil
      replace
      add(generation)
      generation.revive
      generation.ordered = generation.on_trial = true
      generation.whole_by = Clock.now + @limit
      generation
    end

    # Ends the generation that stays loaded.
    def release
      generation = @kept or return
      @kept = nil
      let_go(generation)
    end

    # how: :drain, :retire, :quit or :kill_children.
    def stop(how)
      @leaving = [*all, *@kept].each { |generation| generation.leave(how, @seconds.fetch(how)) }
      @newest = @former = @kept = nil
    end

    # --- what the masters say ---

    # The master has loaded the application. Returns whether it may serve.
    def loaded(generation)
      ready = generation.equal?(@newest) && @server.listen(generation)
      give_up("cannot listen") if generation.equal?(@newest) && !ready
      generation.load
      ready
    end

    def ready(generation)
      @pauses.ready(1) if generation.change(:ready)
    end

    # All workers are ready that the master was told to start. Without a rollout it is whole.
    def whole(generation)
      return unless generation.serves?

      step, leave = generation.rollout&.step(generation.told, @workers, generation.process.pid) || :whole
      case step
      when :hold then generation.hold
      when :whole then become_whole(generation)
      else continue(generation, step, leave)
      end
    end

    # The master does not get its workers ready, and ends.
    def failed(generation)
      give_up("did not get its workers ready") if generation.equal?(@newest)
    end

    # --- what happens to the masters ---

    # stopping: the server stops, so nothing fails and nothing is replaced.
    def ended(generation, stopping:)
      undecided = undecided?(generation) && !stopping
      newest = generation.equal?(@newest)
      forget(generation)
      if undecided
        @record.failed(generation)
        fail_deploy(generation, "has ended: #{generation.process.ending}")
      else
        note_end(generation, newest, stopping)
      end
      generation.change(:end)
      @server.ended(generation)
    end

    # A master that has closed its channel cannot be told anything: it ends slowly, or has executed another program.
    def lost(generation)
      undecided = undecided?(generation)
      newest = generation.equal?(@newest)
      forget(generation)
      generation.lose(@seconds[:retire])
      @leaving << generation
      if undecided
        @record.deserted(generation)
        fail_deploy(generation, "has failed before it was ready")
      else
        note_loss(generation, newest)
      end
    end

    def kill(generation, reason)
      @record.killed(generation, reason)
      generation.process.kill(reason)
    end

    # --- time ---

    # The times (Clock) of the next #look.
    def deadlines
      times = present.map { |generation| generation.rollout&.deadline }
      times.push(@newest&.whole_by, *([@kept_until, @parked_by] if @kept))
    end

    # Returns whether a generation must be started. If the newest one has ended while the former one did not serve yet,
    # the former one takes its place as soon as it serves: nobody has asked for another one.
    def start?
      stay if @newest.nil? && !@asked && @former&.serves?
      @newest.nil?
    end

    # Judges the generations, and gives up the newest one when its time is over.
    def look
      present.each { |generation| judge(generation) if generation.rollout }
      give_up_late
    end

    # The second :go tells a master that its former generation has gone.
    def tell_lonely
      present.each do |generation|
        lonely = generation.on_trial && !on_trial?(generation)
        generation.on_trial = on_trial?(generation)
        generation.tell(:go) if lonely && !generation.reached?(:whole)
      end
    end

    # Ends the kept generation when its time is over. A master that is frozen, or busy in a hook, has not told its
    # workers to leave. When the master has gone, the supervisor adopts them and tells them.
    def look_at_kept
      generation = @kept or return
      return release if generation.process.ended? || @kept_until <= Clock.now
      return unless @parked_by <= Clock.now

      @parked_by = Float::INFINITY
      return unless @server.workers_serve?(generation)

      release
      kill(generation, "did not let its workers leave within #{generation.limit} s")
    end

    private

    def undecided?(generation) = on_trial?(generation) && !generation.reached?(:whole)

    def forget(generation)
      @newest = nil if generation.equal?(@newest)
      @former = nil if generation.equal?(@former)
      @leaving.delete(generation)
    end

    def let_go(generation, event = :leave)
      @leaving << generation
      generation.leave(:retire, @seconds[:retire], event)
    end

    # The master starts more workers, and as many former workers leave. The former generation keeps one until the end.
    def continue(generation, more, leave)
      shrink(leave) if generation.equal?(@newest) && leave.positive?
      generation.change(:more)
      more.times { generation.tell(:more) }
      generation.whole_by = Clock.now + @limit
    end

    def shrink(count)
      return unless @former&.serves?

      @former.told ||= @workers
      count.times { @former.tell(:fewer) }
      @newest.shrunk = true
    end

    # The former generation gets its workers back.
    def grow_back(generation, former = @former)
      former&.resize(@workers) if generation.shrunk
      generation.shrunk = false
    end

    # A generation that is superseded serves on, until the newest one is whole or has failed.
    def become_whole(generation)
      serve if generation.change(:whole) && generation.equal?(@newest)
    end

    # The newest generation takes effect.
    def serve
      relieve
      @newest.shrunk = false
      @newest.change(:serve)
      @server.take_effect(@newest)
      @newest.tell(:serving)
      @newest.start = @newest.rollout = @newest.report = nil
    end

    # The former generation is kept, or leaves. A rollback goes to the generation that served before, or nowhere.
    def relieve
      former = @former
      seconds = former&.serves? ? @server.seconds_to_keep(@newest) : 0
      @former = nil
      release if @newest.ordered || former&.serves?
      return unless former

      seconds.positive? ? keep(former, seconds) : let_go(former)
    end

    # With deploy_surge, the former master has lost some of its workers.
    def keep(former, seconds)
      former.keep(@workers)
      @record.kept(former, seconds)
      @kept = former
      @kept_until = Clock.now + seconds
      @parked_by = Clock.now + @seconds[:retire]
    end

    def give_up(reason)
      generation = @newest
      @record.given_up(generation, reason)
      fail_deploy(generation, reason)
      let_go(generation, :fail)
    end

    def fail_deploy(generation, reason)
      @newest = nil
      @server.fail(generation, reason)
      return @pauses.failed(1) unless @former&.serves?

      @record.deploy_failed
      stay
      grow_back(generation, @newest)
    end

    # The newest generation has failed, so the former one stays. If its own deploy was superseded, it takes effect now.
    def stay
      @newest = @former
      @former = nil
      serve if @newest.state == :whole
    end

    def note_end(generation, newest, stopping)
      if !generation.reached?(:ready) && !generation.leaving?
        @record.failed(generation)
        @pauses.failed(1)
      elsif newest
        @record.ended(generation)
        @pauses.ended(1, generation.seconds_ready)
      elsif generation.reached?(:ready) || !stopping
        @record.left(generation)
      end
    end

    def note_loss(generation, newest)
      if !generation.reached?(:ready) then @pauses.failed(1)
      elsif newest then @pauses.ended(1, generation.seconds_ready)
      end
      @record.lost(generation)
      grow_back(generation)
    end

    def judge(generation)
      generation.rollout.end_trial unless on_trial?(generation)
      case verdict = verdict_of(generation)
      when nil then nil
      when :good then whole(generation)
      else give_up(VERDICTS.fetch(verdict)) if generation.equal?(@newest)
      end
    end

    # An error must not end the supervisor.
    def verdict_of(generation)
      generation.rollout.judge
    rescue StandardError => e
      @record.cannot_judge(e)
      :unknown
    end

    def give_up_late
      newest = @newest or return
      return newest.whole_by = nil unless undecided?(newest)

      newest.whole_by ||= Clock.now + @limit unless newest.reached?(:ready)
      give_up("did not get all of its workers ready within #{@limit} s") if newest.whole_by&.<=(Clock.now)
    end
  end
end
