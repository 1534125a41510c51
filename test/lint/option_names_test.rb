# frozen_string_literal: true

require_relative "checks"

class OptionNamesTest < Lint::TestCase
  def test_options_have_the_names_of_the_file
    assert_clean Lint::OptionNames
  end

  def test_names_for_rackup_are_reported
    found = faults(Lint::OptionNames,
                   "docs/A.md" => "Set `max_queue`,\nMaxQueue or `XSendfile /a`.\n",
                   "lib/a.rb" => "# MaxQueue, SpoolDir\nraise \"SpoolDir\"\n",
                   "core/src/a.h" => "X(A, \"MaxBody: long\") \\\n")
    assert_equal ["docs/A.md:2 names MaxQueue", "docs/A.md:2 names XSendfile", "core/src/a.h:1 says MaxBody",
                  "lib/a.rb:1 says MaxQueue", "lib/a.rb:2 says SpoolDir"], found
  end

  def test_rackup_itself_and_classes_are_not_reported
    assert_empty faults(Lint::OptionNames,
                        "README.md" => "`rackup -O MaxWorkers=8`, Bontebok::RequestTimeout, MaxWorkersOf\n",
                        "docs/MIGRATING.md" => "| `MaxWorkers` | 5 | the same |\n",
                        "lib/a.rb" => "class RequestTimeout\nOption.new(rackup_name: \"OobGC\")\n")
  end
end
