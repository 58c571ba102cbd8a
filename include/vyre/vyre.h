/* Includes every public header, for a program that embeds vyre. A plugin includes only vyre/plugin.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VYRE_VYRE_H
#define VYRE_VYRE_H

#include "vyre/batch.h"
#include "vyre/c.h"
#include "vyre/cost.h"
#include "vyre/cross.h"
#include "vyre/environment.h"
#include "vyre/eval.h"
#include "vyre/glsl.h"
#include "vyre/io.h"
#include "vyre/ir.h"
#include "vyre/megakernel.h"
#include "vyre/opaque.h"
#include "vyre/optimize.h"
#include "vyre/passmgr.h"
#include "vyre/plugin.h"
#include "vyre/ptx.h"
#include "vyre/run.h"
#include "vyre/spirv.h"
#include "vyre/split.h"
#include "vyre/status.h"
#include "vyre/target.h"
#include "vyre/text.h"
#include "vyre/types.h"
#include "vyre/verify.h"
#include "vyre/vir0.h"
#include "vyre/words.h"

#endif
