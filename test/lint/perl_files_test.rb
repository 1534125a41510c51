# frozen_string_literal: true

require_relative "checks"
require "bontebok/version"

class PerlFilesTest < Lint::TestCase
  GOOD = "package A;\n\n# Why.\nuse 5.016;\nuse strict;\nuse warnings;\n"

  def test_the_files_of_this_tree_are_right
    assert_clean Lint::PerlFiles
  end

  def test_both_servers_have_the_same_version
    module_text = File.read(File.join(ROOT, "perl/lib/Bontebok.pm"))
    assert_equal Bontebok::VERSION, module_text[/^our \$VERSION = '(.*)';$/, 1]
  end

  def test_a_file_without_strict_or_warnings_is_reported
    found = faults(Lint::PerlFiles, "perl/t/a.t" => "use strict;\nprint 1;\n", "perl/B.PL" => "use warnings;\n",
                                    "perl/lib/A.pm" => "#{GOOD}1;\n", "perl/blib/lib/C.pm" => "")
    assert_equal ["perl/B.PL does not begin with use strict; use warnings;",
                  "perl/t/a.t does not begin with use strict; use warnings;"], found
  end

  def test_warnings_and_errors_of_the_compiler_are_reported
    found = faults(Lint::PerlFiles, "perl/t/a.t" => "use strict;\nuse warnings;\nmy $x; my $x;\n",
                                    "perl/lib/A.pm" => "#{GOOD}$y = 1;\n")
    assert_match(%r{\Aperl/lib/A.pm: Global symbol "\$y"}, found.first)
    assert_match(%r{\Aperl/t/a.t: "my" variable \$x masks}, found.last)
    assert_equal 2, found.size
  end

  # Test2::API came with Perl 5.26.
  def test_modules_that_perl_lacks_are_reported
    uses = "use Test2::API ();\nuse LWP::UserAgent ();\nuse Plack::Util ();\nuse B ();\nuse constant X => 1;\n" \
           "use C ();\n"
    found = faults(Lint::PerlFiles, "perl/lib/A.pm" => "#{GOOD}#{uses}1;\n__END__\nuse Gone;\n",
                                    "perl/t/a.t" => "use strict;\nuse warnings;\nuse LWP::UserAgent ();\n")
    assert_equal ["perl/lib/A.pm uses Test2::API, which does not come with Perl 5.16",
                  "perl/lib/A.pm uses LWP::UserAgent, which does not come with Perl 5.16",
                  "perl/lib/A.pm uses C, which does not come with Perl 5.16"], found.grep(/ uses /)
  end
end
