# frozen_string_literal: true

require "bontebok/system/clock"
require_relative "fake_process"

# A master's process in a GenerationWorld. It loads, waits for :go, gets its workers ready, and obeys. The search
# decides when it takes its next step, and whether it fails, ends or closes its channel.
class ModelMaster < FakeProcess
  # ready: the number of its workers that serve.
  attr_reader :phase, :ready

  # trial: a former generation serves, as far as the master knows.
  def initialize(pid, workers, trial)
    super(pid)
    @workers = workers
    @trial = trial
    @phase = :loading
    @ready = 0
  end

  # --- what its parent does ---

  # Its parent does not wait before the process counts as lost: fewer orders of events.
  def hear = super.tap { @lost_at = Bontebok::Clock.now if deaf? }

  def check
    @ending = "exit status 1" unless alive?
  end

  def signal(name)
    @phase = :leaving if name == :TERM && alive?
    die if name == :KILL
  end

  def told(word)
    return if %i[ended deaf].include?(@phase)

    case word
    when :go then @gone ? @trial = false : @gone = true
    when :more then add_one
    when :fewer then leave_one
    when :park then park
    when :serve then serve_again
    when :drain, :retire, :quit, :kill then @phase = :leaving
    end
  end

  # --- what the search decides ---

  # nil: it waits.
  def next_step
    case @phase
    when :loading then :loads
    when :loaded then :gets_ready if @gone
    when :ready then :gets_whole unless @whole
    when :leaving then :die
    end
  end

  def loads = continue(:loaded, :loaded)

  def gets_ready
    @ready = 1
    continue(:ready, :ready)
    gets_whole if @workers == 1
  end

  def gets_whole
    @ready = @workers
    @trial = false
    @whole = true
    continue(:ready, :whole)
  end

  # No worker becomes ready.
  def fail = continue(:leaving, :failed)

  def die
    @ready = 0
    @phase = :ended
  end

  # It has executed another program.
  def go_deaf
    @ready = 0
    continue(:deaf, :closed)
  end

  # A worker that served has ended. Another one is started.
  def lose_worker
    @ready -= 1
    @whole = false
    continue(:ready, :crashed)
  end

  # It wants to be replaced.
  def ask = says(:leave)

  # --- what the world looks at ---

  # Masters that look alike go on alike.
  def look(now)
    [@phase, @ready, @workers, @whole, @trial, @gone, @said, @unsaid, @loading, @killed, deaf?,
     @deadline && (@deadline - now)]
  end

  def alive? = @phase != :ended

  # It waits for workers, and would end if they failed, although nobody else serves.
  def trusts_another? = @trial && %i[loaded ready].include?(@phase) && @ready < @workers

  private

  def continue(phase, word)
    @phase = phase
    says(word)
  end

  # It says :whole again, also if it loses this worker at once.
  def add_one
    @workers += 1
    @whole = false
  end

  def leave_one
    return unless @workers > 1

    @workers -= 1
    @ready = [@ready, @workers].min
  end

  def park
    @phase = :parked
    @ready = 0
  end

  def serve_again
    @phase = :loading
    @gone = @whole = false
    @trial = true
  end
end
