# frozen_string_literal: true

require_relative "checks"

class HostDutiesTest < Lint::TestCase
  HEADER = <<~C
    /* Begins. It says "must be true". The host must
     * not dance. Ends. */
    void bb_dance(void); /* must */
    int must;
  C

  def test_the_bindings_fulfil_each_duty_of_a_host
    assert_clean Lint::HostDuties
  end

  def test_a_new_duty_is_reported
    found = faults(Lint::HostDuties, "core/include/bontebok.h" => HEADER)

    assert_includes found, "PLACES does not say where the bindings do this: The host must not dance."
    assert_equal 2, found.grep(/PLACES/).size
  end

  def test_a_duty_that_no_header_demands_is_reported
    assert_includes faults(Lint::HostDuties, "core/include/bontebok.h" => HEADER),
                    "no header demands: The host must end a request before it asks for the next one."
  end

  def test_a_call_that_brings_a_duty_is_reported
    duty = "The calling thread must take the host's global lock for each call"
    assert_includes faults(Lint::HostDuties, "perl/xs/bbp_a.c" => "bb_worker_beat(core->worker);\n"),
                    "PLACES does not say where perl/xs/bbp_a.c does this: #{duty}"
  end

  def test_a_place_that_has_gone_is_reported
    assert_includes faults(Lint::HostDuties, "ext/bontebok/rb_serve.c" => "\n"),
                    "ext/bontebok/rb_serve.c has no: bb_reply_end(core)"
  end
end
